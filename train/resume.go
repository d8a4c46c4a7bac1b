package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/train/cluster"
	"github.com/w2vcl/w2vcl/train/progress"
	"github.com/w2vcl/w2vcl/train/runfolder"
	"github.com/w2vcl/w2vcl/train/settings"
)

// Resume goes on with a run that was interrupted, killed or stopped by an
// error. dir is the run folder or its OUT.partial. changes are the settings to
// change, by name; those with [settings.Setting.Resume] may. The text is read
// again. options returns the options of the run, given its recorded --corpus; nil
// means none.
//
// The result is the same, to the bit, as that of a run that was never stopped, or
// on another device the same but for rounding.
// A text or a setting that changed is an error and leaves everything as it is.
// If the run is finished the error is [ErrComplete] and the summary is good.
//
// The group is that of several ranks; nil is a single process. Rank 0 calls Resume; the others [Receive] the settings, and [Follow].
func Resume(ctx context.Context, group *cluster.Group, dir string, changes map[string]string, options func(corpus string) Options, p *progress.Progress) (runfolder.Summary, error) {
	start := time.Now()
	ctx = group.Lead(ctx)
	folder, err := runfolder.Reopen(dir)
	if err != nil {
		return runfolder.Summary{}, group.Agree(err)
	}
	defer folder.Close()
	last, whole, err := folder.Summary()
	if err != nil {
		return runfolder.Summary{}, group.Agree(err)
	}
	length := slices.IndexFunc(settings.Lengths, func(name string) bool { return changes[name] != "" })
	whole = whole && !last.Interrupted
	switch {
	case whole && length < 0:
		return last, group.Agree(cmp.Or(folder.Commit(last), ErrComplete))
	case whole && !folder.HasCheckpoint():
		return last, group.Agree(terminal.Usagef("--%s: %s is complete and kept no checkpoint, which needs --checkpoint keep in 'w2vcl train'; "+
			"'w2vcl train --init %s' goes on from its vectors", settings.Lengths[length], dir, dir))
	}
	j := &job{folder: folder.Dir}
	if whole {
		j.whole = &last
	}
	defer j.close()
	if err := send(group, &j.config, j.open(folder, changes, group)); err != nil {
		return runfolder.Summary{}, err
	}
	if options != nil {
		j.options = options(j.config.Corpus)
	}
	j.options.Ranks = group
	j.options.textFile = folder.Path(runfolder.TextFile)
	var summary runfolder.Summary
	if err = j.prepare(ctx, p); err == nil {
		summary, err = j.run(ctx, folder, start, p)
	}
	if err = stopped(ctx, err); errors.Is(err, errStopped) {
		err = fmt.Errorf("%w before training continued; %s is unchanged, and 'w2vcl resume %s' continues",
			ErrInterrupted, folder.Dir, folder.Name)
	}
	if errors.Is(err, errNoText) {
		err = fmt.Errorf("%w; if the text is elsewhere now, name it with --corpus or --graph", err)
	}
	return summary, err
}

// open takes the settings of a run from its folder, with changes, and finds its
// checkpoint. A run that was killed early may have none: it starts over.
func (j *job) open(folder *runfolder.Folder, changes map[string]string, group *cluster.Group) error {
	c, err := settings.Resolve(folder.Path(runfolder.ConfigFile), changes)
	if err != nil {
		return err
	}
	c.Out = folder.Name
	j.config = c
	if j.from, err = runfolder.OpenCheckpoint(folder.Path(runfolder.CheckpointFile)); err != nil || j.from == nil {
		return err
	}
	j.closers = append(j.closers, j.from.Close)
	j.config.Unit = j.from.UnitTokens
	return cmp.Or(j.from.CheckSettings(&c), j.from.CheckRanks(sharing(group, &c)))
}

// checkLonger refuses a length that the run has already reached. A whole run that is not in its place yet is moved there. A run whose
// summary is of a shorter run was killed while it was saved.
func (j *job) checkLonger(folder *runfolder.Folder) error {
	p, units := j.from.Position, j.trainer.Units()
	whole := j.whole != nil && j.whole.Iterations >= p.Units
	if done := newWork(j.limit(), units, 0, p).Done(p); !done || !whole && p.Units <= units {
		return nil
	}
	err := terminal.Usagef("%s has trained %s already, which is as long or longer", folder.Name, terminal.Quantity(terminal.Number(p.Units), j.mode.Unit))
	if whole {
		folder.KeepCheckpoint = true
		err = cmp.Or(folder.Commit(*j.whole), err)
	}
	return err
}

// announceResume says where a run goes on, and which settings changed. A new length changes the rate.
func (j *job) announceResume(p *progress.Progress) {
	s, now := j.from, j.config.Recorded()
	for _, name := range settings.Lengths {
		if s.Settings[name] != now[name] {
			next := newWork(j.limit(), j.trainer.Units(), 0, s.Position).Scheduled(s.Position, 0)
			rate, last := j.config.Rate(next, j.trainer.Units()), s.Position.Last.LR
			p.Notef("Note: the learning rate goes on at %.3g, as in a run of this length from the start; it was %.3g; "+
				"--lr %.3[2]g --lr-end %.3[2]g would keep it", rate, last)
			break
		}
	}
	for _, name := range []string{"epochs", "iterations", "budget", "lr", "lr-end", "context-weight", "unseen", "device", "precision"} {
		if before := s.Settings[name]; before != now[name] && now[name] != "" {
			p.Notef("Note: --%s is %s from here on; it was %s", name, now[name], cmp.Or(before, "not given"))
		}
	}
	p.Notef("Resuming after %s", j.unitsOf(s.Position.Units, s.Units))
}

// advise adds advice to an error of a training.
func (j *job) advise(f *runfolder.Folder, err error) error {
	diverged := errors.Is(err, ErrDiverged)
	saved, openErr := runfolder.OpenCheckpoint(f.Path(runfolder.CheckpointFile))
	switch {
	case saved == nil && diverged:
		return fmt.Errorf("%w; the vectors are useless, so nothing was saved; "+
			"start again with a lower --lr (a tenth is a good first try)", err)
	case openErr != nil || saved == nil:
		return err
	}
	saved.Close()
	after := "after " + terminal.Quantity(terminal.Number(saved.Position.Units), j.mode.Unit)
	if diverged {
		return fmt.Errorf("%w; go on from the checkpoint %s with a lower learning rate, "+
			"'w2vcl resume %s --lr %.3g', or start again with a lower --lr", err, after, f.Name, j.config.LR/10)
	}
	return fmt.Errorf("%w; %s keeps the checkpoint %s: when the cause is gone, 'w2vcl resume %s' goes on from there",
		err, f.Dir, after, f.Name)
}
