package train

import (
	"context"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/graph"
	"github.com/w2vcl/w2vcl/sequential"
	"github.com/w2vcl/w2vcl/train/progress"
	"github.com/w2vcl/w2vcl/train/runfolder"
	"github.com/w2vcl/w2vcl/train/settings"
	"github.com/w2vcl/w2vcl/train/trainer"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// An executor is what a run trains on. Nothing else in this package depends on it.
type executor interface {
	// read reads the text, or this rank's part.
	read(ctx context.Context, p *progress.Progress) (*text, error)

	// prepare has all ranks do prepareMode.
	prepare(ctx context.Context, p *progress.Progress) error

	// needCL, needCBOW, needVanilla and needSequential plan the memory of the trainers below. They refuse a mode that does not fit.
	needCL(model graph.Options) error
	needCBOW(s *wordcontext.Stretches, model graph.Options) error
	needVanilla(pairs graph.VanillaOptions, model graph.Options) error
	needSequential(model sequential.Options) error

	// matrix returns M: from its file, or made from what was read.
	matrix(ctx context.Context, model graph.Options, p *progress.Progress) (*wordcontext.Matrix, error)

	newCL(m *wordcontext.Matrix, noise *corpus.Alias, iterations int, model graph.Options) (trainer.Trainer, error)
	newCBOW(s *wordcontext.Stretches, iterations int, model graph.Options) (trainer.Trainer, error)
	newVanilla(noise *corpus.Alias, pairs graph.VanillaOptions, model graph.Options) (trainer.Trainer, error)
	newSequential(noise *corpus.Alias, model sequential.Options, p *progress.Progress) (trainer.Trainer, error)

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

func (e *processor) prepare(ctx context.Context, p *progress.Progress) error {
	return e.job.prepareMode(ctx, p)
}

func (e *processor) needCL(model graph.Options) error {
	j, words := e.job, e.job.text.vocabulary.Len()
	slots := wordcontext.EstimateSlots(words, j.config.MatrixOptions()) // M knows
	if err := j.ask(func(a *trainer.Account) error { return graph.PlanCL(a, words, slots, model) }); err != nil {
		return err
	}
	_, whole := wordcontext.EstimateBytes(j.text.corpus, j.config.MatrixOptions())
	onDisk := wordcontext.EstimateResident(j.text.corpus, j.config.MatrixOptions(), j.config.ThreadCount())
	j.matrix = min(whole, onDisk)
	defer func() { j.matrix = 0 }() // until it is there
	return j.checkTraining()
}

func (e *processor) needCBOW(s *wordcontext.Stretches, model graph.Options) error {
	return e.job.ask(func(a *trainer.Account) error { return graph.PlanCBOW(a, s, model) })
}

func (e *processor) needVanilla(pairs graph.VanillaOptions, model graph.Options) error {
	return e.job.ask(func(a *trainer.Account) error { return graph.PlanVanilla(a, e.job.text.vocabulary.Len(), pairs, model) })
}

func (e *processor) needSequential(model sequential.Options) error {
	t := e.job.text
	return e.job.ask(func(a *trainer.Account) error {
		return sequential.Plan(a, t.vocabulary.Len(), int(t.stats.TokensUsed), model)
	})
}

func (e *processor) matrix(ctx context.Context, model graph.Options, p *progress.Progress) (*wordcontext.Matrix, error) {
	j := e.job
	maker := newMatrixMaker(&j.config, j.text.corpus, j.guard.Guard, j.sum()).SharedBy(j.options.Matrix)
	if !j.dry {
		maker.Save(j.folder)
	}
	made, err := maker.Open(ctx, p)
	if err != nil {
		return nil, err
	}
	m := made.Matrix
	if !made.Shared {
		j.closers = append(j.closers, func() { _ = m.Close() }) // it was only read
	}
	j.matrix, j.secondsMatrix, j.matrixDisk = made.Resident, made.Seconds, made.Disk
	if j.prepared = made.Peak; made.Held {
		j.program = max(j.program-made.Resident, 0)
	}
	return m, j.ask(func(a *trainer.Account) error { return graph.PlanCL(a, j.text.vocabulary.Len(), made.Expected, model) })
}

func (e *processor) newCL(m *wordcontext.Matrix, noise *corpus.Alias, iterations int, model graph.Options) (trainer.Trainer, error) {
	return graph.NewCL(m, noise, iterations, model)
}

func (e *processor) newCBOW(s *wordcontext.Stretches, iterations int, model graph.Options) (trainer.Trainer, error) {
	return graph.NewCBOW(s, iterations, model)
}

func (e *processor) newVanilla(noise *corpus.Alias, pairs graph.VanillaOptions, model graph.Options) (trainer.Trainer, error) {
	return graph.NewVanilla(e.job.text.corpus, noise, pairs, model)
}

func (e *processor) newSequential(noise *corpus.Alias, model sequential.Options, _ *progress.Progress) (trainer.Trainer, error) {
	return sequential.NewFrom(e.job.text.corpus, noise, e.job.start, model)
}

func (e *processor) tell(*runfolder.Memory) {}

func (e *processor) close() {}
