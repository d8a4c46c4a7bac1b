package train

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/train/progress"
	"github.com/w2vcl/w2vcl/train/runfolder"
	"github.com/w2vcl/w2vcl/train/settings"
	"github.com/w2vcl/w2vcl/train/trainer"
)

// beside is what a run knows of those that train at the same time.
type beside struct {
	inUse   int64 // memory that the process had when they began
	threads int   // the user's setting, for all of them
}

// RunSeeds trains k runs of c, with its seed and those after it, in folders seedN of c.Out, side by side where memory and threads allow.
// Each gives the same vectors as alone. o.Text, if not nil, is the text of all. ended is called for each run, once those
// beside it have ended too. When a run fails, those beside it go on and no other begins; the error names the seed. Of runs side by side, only the first shows its progress.
func RunSeeds(ctx context.Context, c settings.Config, k int, o Options, p *progress.Progress, ended func(runfolder.Summary, error) error) error {
	guard, release, err := newMemoryGuard(&c, o)
	if err != nil {
		return err
	}
	n, threads, how := sideBySide(ctx, c, k, o, guard)
	p.Notef("%s", how)
	options := o
	if n > 1 {
		options.beside = &beside{guard.inUse, c.Threads}
	}
	summaries, failed := make([]runfolder.Summary, n), make([]error, n)
	var training sync.WaitGroup
	for i := range n {
		run, shown := c, p
		run.Seed += uint64(i)
		run.Out = filepath.Join(c.Out, fmt.Sprintf("seed%d", run.Seed))
		run.Threads = threads
		if i > 0 && p != nil {
			shown = progress.Warnings(p.Writer())
		}
		training.Go(func() { summaries[i], failed[i] = Run(ctx, run, options, shown) })
	}
	training.Wait()
	release()
	for i, summary := range summaries {
		if err := ended(summary, failed[i]); err != nil {
			failed[i] = fmt.Errorf("seed %d: %w", c.Seed+uint64(i), err)
		}
	}
	if err := errors.Join(failed...); err != nil || n == k {
		return err
	}
	c.Seed += uint64(n)
	return RunSeeds(ctx, c, k-n, o, p, ended)
}

// sideBySide returns how many of k runs train at once and the setting of their threads, and says why.
func sideBySide(ctx context.Context, c settings.Config, k int, o Options, guard memoryGuard) (n, threads int, how string) {
	family, why := c.FindMode().Family, ""
	threads = c.ThreadCount()
	if n = min(k, threads); family == settings.SentenceOrdered { // their number changes the result
		n = min(k, runtime.GOMAXPROCS(0)/threads)
	}
	switch {
	case k == 1:
	case c.Device != settings.DeviceCPU || c.Budget.Kind == trainer.BudgetSeconds:
		why = " alone, because other runs would take time from it"
	case n < 2:
		why = " alone, because it takes all threads"
	case family == settings.WholeMatrix:
		why = " alone, because only counting shows how much memory it needs"
	default:
		bytes, err := CheckMemory(ctx, c, o)
		if err != nil {
			break // the run says it again
		}
		free := max(guard.Limit-guard.inUse, 0)
		why = fmt.Sprintf("a run takes up to %s of the %s of free memory", terminal.Bytes(bytes), terminal.Bytes(free))
		if n = min(n, int(free/bytes)); n > 1 {
			if family != settings.SentenceOrdered {
				threads /= n
			}
			return n, threads, fmt.Sprintf("Seeds %d to %d at once, each on %s: %s; this is the progress of the first",
				c.Seed, c.Seed+uint64(n-1), terminal.Quantity(terminal.Number(threads), "thread"), why)
		}
		why = " alone, because " + why
	}
	return 1, c.Threads, fmt.Sprintf("Seed %d%s", c.Seed, why)
}
