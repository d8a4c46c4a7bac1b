package train

import (
	"context"

	"github.com/w2vcl/w2vcl/train/progress"
	"github.com/w2vcl/w2vcl/train/runfolder"
	"github.com/w2vcl/w2vcl/train/settings"
	"github.com/w2vcl/w2vcl/train/trainer"
)

// An executor is what a run trains on. Nothing else in this package depends on it.
type executor interface {
	// read reads the text, or this rank's part.
	read(ctx context.Context, p *progress.Progress) (*text, error)

	// plan plans the memory of a trainer, and refuses one that does not fit. A trainer on a matrix is planned before
	// the matrix is made, and again with it.
	plan(b *blueprint) error

	// make makes the trainer, which takes its memory from the job's live account.
	make(b *blueprint, p *progress.Progress) (trainer.Trainer, error)

	// tell writes the device memory of the run into m.
	tell(m *runfolder.Memory)

	close()
}

func newExecutor(j *job) executor {
	own := processor{job: j}
	switch {
	case j.config.Device != settings.DeviceCPU:
		return &gpu{processor: own}
	case j.options.Ranks != nil:
		return &processors{processor: own, group: j.options.Ranks}
	default:
		return &own
	}
}

// A processor trains on this process: all its threads.
type processor struct{ job *job }

func (e *processor) read(ctx context.Context, p *progress.Progress) (*text, error) {
	return readText(ctx, &e.job.config, e.job.options, e.job.guard, p)
}

func (e *processor) plan(b *blueprint) error { return e.job.ask(b.plan) }

func (e *processor) make(b *blueprint, _ *progress.Progress) (trainer.Trainer, error) {
	return b.make()
}

func (e *processor) tell(*runfolder.Memory) {}

func (e *processor) close() {}
