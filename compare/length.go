package compare

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"github.com/cespare/xxhash/v2"

	"github.com/w2vcl/w2vcl/compare/experiment"
	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/internal/atomicfile"
	"github.com/w2vcl/w2vcl/internal/machine"
	"github.com/w2vcl/w2vcl/train"
	"github.com/w2vcl/w2vcl/train/runfolder"
	"github.com/w2vcl/w2vcl/train/settings"
	"github.com/w2vcl/w2vcl/train/trainer"
)

// A Length is how long the runs of a variant train. It is measured once, in processor time, so that all seeds train as much.
type Length struct {
	// Seconds is how long building M and training take on a machine that does nothing else.
	Seconds float64 `json:"seconds"`

	// A budget in seconds comes to so many iterations of mode cl, or words.
	Iterations int     `json:"iterations,omitempty"`
	Words      float64 `json:"words,omitempty"`
}

// fixLength sets how long a run trains.
func (e *executor) fixLength(ctx context.Context, r *experiment.Run, record *Record) error {
	c, b := &r.Config, e.options.Budget
	seconds := b.IsEqual() && b.Kind == experiment.BudgetSeconds
	switch {
	case !e.options.Follows(*r):
	case seconds:
		c.Budget = trainer.Budget{Kind: trainer.BudgetSeconds, Amount: e.records[0].Length.Seconds}
	default:
		first, err := e.firstRun()
		if err != nil {
			return err
		}
		c.Budget = e.options.BudgetOf(first, e.iterationPairs)
	}
	timed, leads := c.Budget.Kind == trainer.BudgetSeconds, seconds && r.Name == e.runs[0].Name
	if !timed && !leads {
		return nil
	}
	for _, other := range e.records { // other seeds
		if record.Length == nil && other.Variant.Name == r.Name {
			record.Length = other.Length
		}
	}
	if record.Length == nil {
		length, err := e.measure(ctx, c, timed)
		if err != nil {
			return fmt.Errorf("%s: %w", r.Name, err)
		}
		record.Length = &length
	}
	if timed {
		c.Iterations = record.Length.Iterations
		if c.Budget = (trainer.Budget{}); c.Iterations == 0 {
			c.Budget = trainer.Budget{Kind: trainer.BudgetWords, Amount: record.Length.Words}
		}
	}
	return nil
}

// measure finds what the length of a configuration comes to. Other programs change that, so a comparison that is repeated takes what was
// measured first.
func (e *executor) measure(ctx context.Context, c *settings.Config, timed bool) (l Length, err error) {
	text := e.texts[(experiment.Run{Config: *c}).TextKey()]
	file := lengthFile(c, text, timed)
	if data, err := os.ReadFile(file); err == nil && json.Unmarshal(data, &l) == nil && l.Seconds > 0 && (!timed || l.Iterations > 0 || l.Words > 0) {
		e.Progress.Notef("Time: as measured before, in %s", file)
		return l, nil
	}
	plan, err := train.MakePlan(ctx, *c, train.Options{Text: text, Matrix: e.shared.get, Steady: true}, e.Progress)
	if err != nil {
		return l, err
	}
	l = Length{Seconds: plan.SecondsMatrix + plan.SecondsTrain}
	if timed && c.Mode == settings.ModeCL {
		l.Iterations = plan.Iterations
	} else if timed {
		l.Words = float64(plan.TrainWords) * plan.Epochs
	}
	if file != "" && os.MkdirAll(filepath.Dir(file), 0o755) == nil { // where nothing can be kept, it is measured again
		_ = atomicfile.Write(file, func(w io.Writer) error { return json.NewEncoder(w).Encode(l) })
	}
	return l, nil
}

// lengthFile names the file of the user's cache that keeps the length of a configuration on this machine; "" if there is none.
func lengthFile(c *settings.Config, text *corpus.Corpus, timed bool) string {
	cache, err := os.UserCacheDir()
	if err != nil || c.Device != settings.DeviceCPU {
		return ""
	}
	texts := c.Recorded()
	for _, name := range append([]string{"seed", "checkpoint"}, pathSettings...) {
		delete(texts, name)
	}
	key := fmt.Sprint(texts, timed, corpus.Hex(text.Fingerprint()), machine.Describe().Processor, runtime.GOMAXPROCS(0))
	if program, err := os.Executable(); err == nil {
		if info, err := os.Stat(program); err == nil { // another version may be faster
			key += fmt.Sprint(info.Size(), info.ModTime().UnixNano())
		}
	}
	return filepath.Join(cache, "w2vcl", "lengths", corpus.Hex(xxhash.Sum64String(key))+".json")
}

// firstRun returns the summary of the first run, which others follow in pairs or epochs.
func (e *executor) firstRun() (runfolder.Summary, error) {
	first := e.records[0]
	if e.options.Budget.IsEqual() && !first.trained() {
		return runfolder.Summary{}, errors.New("the first run did not train to its end, and the others train as long as it does: choose another --budget")
	}
	return first.Summary, nil
}

// trained reports whether the run has a summary.
func (r *Record) trained() bool { return r.Summary.Mode != "" }
