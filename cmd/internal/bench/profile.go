package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/graph"
	"github.com/w2vcl/w2vcl/optim"
)

// A ProfileCase is a minibatch of mode vanilla, to measure phase by phase (figure 3 of
// the W2V-CL paper).
type ProfileCase struct {
	Vocabulary int `json:"words"`    // V
	Dim        int `json:"dim"`      // N
	Negatives  int `json:"negative"` // K
	Batch      int `json:"batch"`    // positive pairs of a minibatch
	Threads    int `json:"threads"`
}

// The phases of a minibatch, in the order of the work.
const (
	PhaseDraw      = "draw"      // negatives
	PhaseDot       = "dot"       // gathering rows, dot products
	PhaseLoss      = "loss"      // sigmoids and the loss
	PhaseGradients = "gradients" // of both tables, summed by row
	PhaseUpdate    = "update"    // the optimizer, on the rows that occur
	PhaseRest      = "rest"      // reading pairs, sorting entries by row, the graph's machine
)

// A ProfilePhase is one phase of a minibatch, measured alone.
type ProfilePhase struct {
	Name           string      `json:"name"`
	Step           Measurement `json:"step_seconds"` // of one minibatch
	WordsPerSecond float64     `json:"words_per_second"`
	Fraction       float64     `json:"share"` // of ProfileResult.All
}

// A ProfileResult says how long a minibatch takes, and how long each phase. Words per
// second are positive pairs per second, as in the paper.
type ProfileResult struct {
	ProfileCase
	Phases         []ProfilePhase `json:"parts"` // PhaseRest is All minus the others
	All            Measurement    `json:"all_seconds"`
	WordsPerSecond float64        `json:"words_per_second"`
	Forward        float64        `json:"forward_words_per_second"` // draw, dot and loss
}

// profileWindow is the window of the text that is profiled.
const profileWindow = 2

// ProfileOptimizer is the optimizer of the profile, as in the paper.
const ProfileOptimizer = optim.Adam

// MeasureProfile measures each phase on random pairs, which are as frequent as in a
// subsampled text, and all together by training on such a text.
func MeasureProfile(ctx context.Context, c ProfileCase, seed uint64, e Effort) (ProfileResult, error) {
	r := ProfileResult{ProfileCase: c}
	text, err := syntheticCorpus(c.Vocabulary, Zipf, seed)
	if err != nil {
		return r, err
	}
	noise, err := corpus.NewAlias(corpus.CountPower(text.Vocabulary.Counts, 0.75))
	if err != nil {
		return r, fmt.Errorf("cannot draw negatives: %w", err)
	}
	if r.All, err = measureMinibatches(ctx, text, noise, c, seed, e); err != nil {
		return r, err
	}
	b, err := newMinibatch(text.Vocabulary.Counts, noise, c, seed)
	if err != nil {
		return r, err
	}
	var sum, forward float64
	for _, phase := range b.phases() {
		step, err := b.measure(ctx, phase.work, e)
		if err != nil {
			return r, err
		}
		sum += step.Median
		if phase.name == PhaseDraw || phase.name == PhaseDot || phase.name == PhaseLoss {
			forward += step.Median
		}
		r.add(phase.name, step)
	}
	// The phases take less than the whole, apart from noise.
	rest := max(r.All.Median-sum, 0)
	r.add(PhaseRest, Measurement{rest, rest, rest, r.All.Runs})
	r.WordsPerSecond = rate(float64(c.Batch), r.All.Median)
	r.Forward = rate(float64(c.Batch), forward)
	return r, nil
}

// Phase returns a phase by its name.
func (r ProfileResult) Phase(name string) ProfilePhase {
	for _, p := range r.Phases {
		if p.Name == name {
			return p
		}
	}
	return ProfilePhase{}
}

func (r *ProfileResult) add(name string, step Measurement) {
	r.Phases = append(r.Phases, ProfilePhase{
		Name: name, Step: step, WordsPerSecond: rate(float64(r.Batch), step.Median), Fraction: rate(step.Median, r.All.Median),
	})
}

// measureMinibatches trains on a text and returns the seconds of a minibatch.
func measureMinibatches(ctx context.Context, text *corpus.Corpus, noise *corpus.Alias, c ProfileCase, seed uint64, e Effort) (Measurement, error) {
	options := graph.VanillaOptions{Window: profileWindow, Sample: textSample, Batch: c.Batch, Epochs: 1 << 16}
	trainer, err := graph.NewVanilla(text, noise, options, graph.Options{
		Dim: c.Dim, Negatives: c.Negatives, Seed: seed, Threads: c.Threads, Form: graph.FormFused,
		Optimizer: optim.Options{Method: ProfileOptimizer},
	})
	if err != nil {
		return Measurement{}, err
	}
	unit := 0
	var perBatch []float64
	for turn := range e.Repeat + 1 {
		var pairs float64
		start := time.Now()
		for pairs == 0 || time.Since(start) < e.Time && turn > 0 { // the first only warms up
			report, err := trainer.Advance(ctx, unit%trainer.Units(), stepRate)
			if err != nil {
				return Measurement{}, err
			}
			pairs += report.Pairs
			unit++
		}
		if turn > 0 {
			perBatch = append(perBatch, time.Since(start).Seconds()*float64(c.Batch*(1+c.Negatives))/pairs)
		}
	}
	return Measured(perBatch), trainer.Close()
}
