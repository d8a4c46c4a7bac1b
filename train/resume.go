package train

import (
	"context"
	"errors"
	"fmt"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"io"
	"time"
)

// Resume goes on with a run that was interrupted, killed or stopped by an
// error. dir is the run folder or its OUT.partial. changes are the settings to
// change, by name; those with [Setting.Resume] may. The text is read again, from
// what source returns for its recorded name if that is not nil.
//
// The result is the same, to the bit, as that of a run that was never stopped, or
// on another device the same but for rounding.
// A text or a setting that changed is an error and leaves everything as it is.
// If the run is finished the error is [ErrComplete] and the summary is good.
func Resume(ctx context.Context, dir string, changes map[string]string, source func(corpus string) io.Reader, p *terminal.Progress) (Summary, error) {
	return resume(ctx, dir, changes, func(corpus string) Extras {
		if source == nil {
			return Extras{}
		}
		return Extras{Source: source(corpus)}
	}, p)
}

// ResumeWith is [Resume] of a run that [RunWith] began with the same extras.
func ResumeWith(ctx context.Context, dir string, x Extras, p *terminal.Progress) (Summary, error) {
	return resume(ctx, dir, nil, func(string) Extras { return x }, p)
}

func resume(ctx context.Context, dir string, changes map[string]string, extras func(corpus string) Extras, p *terminal.Progress) (Summary, error) {
	start := time.Now()
	folder, err := openFolder(dir)
	if err != nil {
		return Summary{}, err
	}
	defer folder.close()
	last, whole, err := folder.summary()
	if err != nil {
		return Summary{}, err
	}
	if whole && !last.Interrupted {
		if err := folder.commit(last); err != nil {
			return Summary{}, err
		}
		return last, ErrComplete
	}
	j := &job{}
	defer j.close()
	if err := j.open(folder, changes); err != nil {
		return Summary{}, err
	}
	j.extras = extras(j.config.Corpus)
	var summary Summary
	if err = j.prepare(ctx, p); err == nil {
		summary, err = j.run(ctx, folder, start, p)
	}
	if err = stopped(ctx, err); errors.Is(err, errStopped) {
		err = fmt.Errorf("%w before training went on; %s is as it was, and 'w2vcl resume %s' continues", ErrInterrupted, folder.dir, folder.shown)
	}
	return summary, err
}

// open takes the settings of a run from its folder, with changes, and finds its
// checkpoint. A run that was killed early may have none: it starts over.
func (j *job) open(folder *runFolder, changes map[string]string) error {
	c, err := Resolve(folder.path(ConfigFile), changes)
	if err != nil {
		return err
	}
	c.Out = folder.shown
	if err := c.checkOutputs(); err != nil {
		return err
	}
	j.config = c
	if j.from, err = openCheckpoint(folder.statePath()); err != nil || j.from == nil {
		return err
	}
	j.closers = append(j.closers, j.from.file.Close)
	return j.from.checkSettings(&c)
}

// announce says where a run goes on, and what is not as it was.
func (s *savedState) announce(j *job, p *terminal.Progress) {
	now := j.config.recorded()
	for _, name := range []string{"lr", "lr-end", "device", "precision"} {
		if before := s.Settings[name]; before != now[name] {
			p.Notef("Note: --%s is %s from here on; it was %s", name, now[name], before)
		}
	}
	p.Notef("Resuming after %s of %s %ss", terminal.Number(s.Position.Units), terminal.Number(s.Units), j.mode.unit)
}

// advise adds to an error of a training what can be done about it.
func (j *job) advise(f *runFolder, err error) error {
	diverged := errors.Is(err, errDiverged)
	saved, openErr := openCheckpoint(f.statePath())
	switch {
	case saved == nil && diverged:
		return fmt.Errorf("%w; the vectors are useless, so nothing was saved; start again with a lower --lr (a tenth is a good first try)", err)
	case openErr != nil || saved == nil:
		return err
	}
	saved.close()
	after := fmt.Sprintf("after %s %ss", terminal.Number(saved.Position.Units), j.mode.unit)
	if diverged {
		return fmt.Errorf("%w; go on from the checkpoint %s with a lower learning rate, 'w2vcl resume %s --lr %.3g', or start again with a lower --lr",
			err, after, f.shown, j.config.LR/10)
	}
	return fmt.Errorf("%w; %s keeps the checkpoint %s: when the cause is gone, 'w2vcl resume %s' goes on from there", err, f.dir, after, f.shown)
}
