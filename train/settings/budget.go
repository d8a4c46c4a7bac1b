package settings

import (
	"math"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/train/trainer"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// A run that a budget ends has more epochs or iterations than the budget allows.
const (
	endlessEpochs     = 1 << 22
	endlessIterations = 1 << 28
)

// InIterations reports whether the number of iterations keeps the budget: in mode cl each has the same
// number of pairs and words. Everything else that has a budget must be watched while it trains.
func (c *Config) InIterations() bool {
	return c.trains(inIterations) && c.Budget.Kind != trainer.BudgetSeconds
}

// fitBudget sets the iterations or epochs of a budget: those that it allows, or more than it
// allows where only training shows how far it reaches.
func (c *Config) fitBudget(v *corpus.Vocabulary) {
	if c.Budget.Kind == "" {
		return
	}
	m := c.FindMode()
	c.Epochs, c.Iterations = endlessEpochs, 0
	switch {
	case m.Trains(inIterations) && c.Budget.Kind == trainer.BudgetSeconds:
		c.Iterations = endlessIterations
	case m.Trains(inIterations):
		of := c.iterationWords(v)
		if c.Budget.Kind == trainer.BudgetPairs {
			of = c.IterationPairs(v)
		}
		c.Iterations = int(min(max(math.Round(c.Budget.Amount/of), 1), endlessIterations))
	}
}

// iterationWords returns the words of an iteration of mode cl.
func (c *Config) iterationWords(v *corpus.Vocabulary) float64 {
	if c.in(Stretches) {
		tokens, _ := wordcontext.EstimateStretch(v, c.StretchOptions())
		return tokens
	}
	return float64(v.Total()) / float64(c.Contexts)
}

// IterationPairs returns the pairs of an iteration of mode cl on a text that the configuration was fitted to.
func (c *Config) IterationPairs(v *corpus.Vocabulary) float64 {
	samples := c.Positives * float64(v.Len())
	if c.in(Stretches) {
		_, samples = wordcontext.EstimateStretch(v, c.StretchOptions())
	}
	return 2 * samples * float64(1+c.Negative)
}

// runWords returns about how many words a run with a budget trains, 0 without a budget: trainers
// cut it into units by that. A thread trains 100,000 words a second or more, a GPU 10 million.
func (c *Config) runWords() int {
	words := c.Budget.Amount
	switch c.Budget.Kind {
	case trainer.BudgetSeconds:
		perSecond := 1e5 * float64(c.ThreadCount())
		if c.Device != DeviceCPU {
			perSecond = 1e7
		}
		words *= perSecond
	case trainer.BudgetPairs:
		words /= float64((1 + c.Negative) * (1 + c.Window))
	}
	return int(min(words, 1e15))
}
