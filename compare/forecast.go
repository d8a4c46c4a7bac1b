package compare

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/w2vcl/w2vcl/compare/experiment"
	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/internal/machine"
	"github.com/w2vcl/w2vcl/train"
	"github.com/w2vcl/w2vcl/train/progress"
	"github.com/w2vcl/w2vcl/train/runfolder"
)

// A Planner plans experiments on texts that it reads once. Its zero value is ready; Close ends it.
type Planner struct {
	Source   func() io.Reader   // as [compare.Means] has it; may be nil
	Progress *progress.Progress // may be nil

	texts map[string]*corpus.Corpus // by Run.TextKey
	plans map[string]train.Plan     // by what a plan depends on
}

// A Forecast is what all runs of an experiment will take.
type Forecast struct {
	Seconds float64 // building M and training, without reading the text and scoring
	Memory  int64   // bytes at most, of all processes
	Device  int64   // of it, bytes of each GPU
}

// longest is how long a variant is measured. Some units are long: a minibatch of the paper's Adam
// moves all rows, and a unit has as many as 65,536 words make.
const longest = 15 * time.Second

// Forecast measures a few units of each variant of an experiment. A variant that cannot be trained
// here is an error that names it.
func (p *Planner) Forecast(ctx context.Context, o experiment.Options) (Forecast, error) {
	runs, err := o.Runs()
	if err != nil {
		return Forecast{}, err
	}
	f, first := Forecast{}, runfolder.Summary{}
	for i, r := range runs[:len(runs)/o.Seeds] { // those of the first seed
		text, err := p.text(ctx, r)
		if err != nil {
			return Forecast{}, err
		}
		if o.Follows(r) {
			pairs, err := o.IterationPairs(runs, text.Vocabulary)
			if err != nil {
				return Forecast{}, err
			}
			r.Config.Budget = o.BudgetOf(first, pairs)
		}
		plan, err := p.plan(ctx, r, text)
		if err != nil {
			return Forecast{}, fmt.Errorf("%s: %w", r.Name, err)
		}
		if i == 0 {
			first = expected(plan)
		}
		f.Seconds += float64(o.Seeds) * (plan.SecondsMatrix + plan.SecondsTrain)
		f.Memory, f.Device = max(f.Memory, plan.Memory.Peak), max(f.Device, plan.Memory.Device)
	}
	jobs := o.SideBySide()
	f.Seconds /= float64(jobs)
	if jobs > 1 { // this process waits for the others
		f.Memory = f.Memory*int64(jobs) + machine.Resident()
	}
	return f, nil
}

// expected returns what the summary of a planned run will say of its length.
func expected(p train.Plan) runfolder.Summary {
	seconds := max(p.SecondsTrain, 1e-9)
	return runfolder.Summary{
		SecondsMatrix: p.SecondsMatrix, SecondsTrain: seconds, TrainWords: p.TrainWords, Epochs: p.Epochs,
		PairsPerSecond: p.PairsPerIteration * float64(p.Iterations) / seconds,
	}
}

func (p *Planner) text(ctx context.Context, r experiment.Run) (*corpus.Corpus, error) {
	key := r.TextKey()
	if text, ok := p.texts[key]; ok {
		return text, nil
	}
	var source io.Reader
	if p.Source != nil {
		source = p.Source()
	}
	text, err := train.ReadText(ctx, r.Config, source, p.Progress)
	if err != nil {
		return nil, err
	}
	if p.texts == nil {
		p.texts = map[string]*corpus.Corpus{}
	}
	p.texts[key] = text
	return text, nil
}

// plan measures a run, unless one with the same settings was measured before.
func (p *Planner) plan(ctx context.Context, r experiment.Run, text *corpus.Corpus) (train.Plan, error) {
	var key strings.Builder
	for _, s := range r.Config.Settings() {
		if s.Name != "out" {
			fmt.Fprintf(&key, "%s=%s ", s.Name, s)
		}
	}
	if plan, ok := p.plans[key.String()]; ok {
		return plan, nil
	}
	options := train.Options{Text: text}
	if p.Source != nil {
		options.Source = p.Source() // only says that the corpus is a name
	}
	limited, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	plan, err := train.PlanWith(limited, r.Config, options, nil)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		return plan, fmt.Errorf("building M and a unit of training take more than %v here", longest)
	}
	if err != nil {
		return plan, err
	}
	if p.plans == nil {
		p.plans = map[string]train.Plan{}
	}
	p.plans[key.String()] = plan
	return plan, nil
}

// Close closes the texts. They were only read.
func (p *Planner) Close() {
	for _, text := range p.texts {
		_ = text.Close()
	}
	p.texts = nil
}
