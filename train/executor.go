package train

import (
	"context"
	"fmt"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/graph"
	"github.com/w2vcl/w2vcl/sequential"
	"github.com/w2vcl/w2vcl/train/progress"
	"github.com/w2vcl/w2vcl/train/runfolder"
	"github.com/w2vcl/w2vcl/train/settings"
	"github.com/w2vcl/w2vcl/train/trainer"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// A blueprint describes the trainer of a mode.
type blueprint struct {
	graph      graph.Options          // of cl and vanilla
	sequential sequential.Options     // of the sentence-ordered modes
	noise      *corpus.Alias          // of negatives; nil: stretches have them
	iterations int                    // of cl
	matrix     *wordcontext.Matrix    // of cl with skip-gram; nil: it is not made yet
	slots      int                    // of an iteration on the matrix, about
	stretches  *wordcontext.Stretches // of cl with CBOW
	pairs      graph.VanillaOptions   // of vanilla
}

// An executor is what a run trains on. Nothing else in this package depends on it.
type executor interface {
	// read reads the text, or this rank's part.
	read(ctx context.Context, p *progress.Progress) (*text, error)

	// plan plans the memory of a trainer, and refuses one that does not fit. A trainer on a matrix is planned before
	// the matrix is made, and again with it.
	plan(b *blueprint) error

	// make makes the trainer, which takes its memory from the accounts of the blueprint.
	make(b *blueprint, p *progress.Progress) (trainer.Trainer, error)

	// tell writes the device memory of the run into m.
	tell(m *runfolder.Memory)

	close()
}

// newExecutor chooses the executor of a job.
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

func (e *processor) plan(b *blueprint) error {
	t, words := e.job.text, e.job.text.vocabulary.Len()
	return e.job.ask(func(a *trainer.Account) error {
		switch e.job.mode.Family {
		case settings.LargeBatch:
			return graph.PlanCL(a, words, b.slots, b.graph)
		case settings.Stretches:
			return graph.PlanCBOW(a, b.stretches, b.graph)
		case settings.Minibatch:
			return graph.PlanVanilla(a, words, b.pairs, b.graph)
		default:
			return sequential.Plan(a, words, int(t.stats.TokensUsed), b.sequential)
		}
	})
}

func (e *processor) make(b *blueprint, _ *progress.Progress) (trainer.Trainer, error) {
	text := e.job.text.corpus
	switch e.job.mode.Family {
	case settings.LargeBatch:
		return graph.NewCL(b.matrix, b.noise, b.iterations, b.graph)
	case settings.Stretches:
		return graph.NewCBOW(b.stretches, b.iterations, b.graph)
	case settings.Minibatch:
		return graph.NewVanilla(text, b.noise, b.pairs, b.graph)
	case settings.SentenceOrdered:
		return sequential.NewFrom(text, b.noise, e.job.start, b.sequential)
	default:
		return nil, fmt.Errorf("mode %s is of a family that has no trainer", e.job.mode.Name)
	}
}

func (e *processor) tell(*runfolder.Memory) {}

func (e *processor) close() {}
