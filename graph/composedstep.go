package graph

import (
	"fmt"

	"github.com/w2vcl/w2vcl/graph/step"
	"github.com/w2vcl/w2vcl/internal/operation"
	"github.com/w2vcl/w2vcl/internal/team"
	"github.com/w2vcl/w2vcl/train/trainer"
	"gorgonia.org/gorgonia"
)

// composedStep trains rows that are means of parts against frozen rows of C: step 1 of W2V-CL. As with an encoder, step 2 meets
// the rows that step 1 began with.
type composedStep struct {
	compiledStep           // of the rows' gradients; it updates nothing
	rows         *partRows // what is updated
	gradients    func() ([]float32, error)
	sampler      *step.Sampler
	every        []uint32 // (V): 0, 1, 2, ...
	words, slots []uint32 // the words that have a share, and how many samples they have together
}

// takeComposed counts the memory of a composedStep without its parts.
func (c Options) takeComposed(words int) {
	c.Account.Take(trainer.ForWork, 4*int64(words)*(int64(c.Dim)+4))
}

func newComposedStep(rows *partRows, words, contexts *table, s *step.Sampler, blocks []int, workers *team.Team, c Options) (*composedStep, error) {
	t := &composedStep{rows: rows, sampler: s, every: make([]uint32, words.rows)}
	for i := range t.every {
		t.every[i] = uint32(i)
	}
	var err error
	if c.Form == FormStock {
		err = t.useStock(words, contexts)
	} else {
		err = t.useFused(words, contexts, blocks, workers, c)
	}
	return t, err
}

// useFused has Gorgonia derive the gradient of the rows from the loss.
func (t *composedStep) useFused(words, contexts *table, blocks []int, workers *team.Team, c Options) (err error) {
	defer operation.Recovered("build the graph of composed rows", &err)
	op, err := newSkipGram(t.sampler, blocks, workers, nil, c)
	if err != nil {
		return err
	}
	op.core.Root = false // the optimizer of words' own rows knows how many samples they have
	g := gorgonia.NewGraph()
	rows := matrix(g, words.name, words.dense)
	loss, err := op.apply(rows, matrix(g, contexts.name, contexts.dense))
	if err != nil {
		return err
	}
	gradients, err := gorgonia.Grad(loss, rows)
	if err != nil {
		return fmt.Errorf("differentiate the graph of composed rows: %w", err)
	}
	m, err := newMachine(g)
	t.compiledStep = &fusedStep{machine: m, loss: &op.loss}
	t.gradients = func() ([]float32, error) { return floatsOf(gradients[0]) }
	return err
}

// useStock has stock operations compute the gradient of the rows.
func (t *composedStep) useStock(words, contexts *table) error {
	s, err := newStockStep(words, contexts, t.sampler, int(t.sampler.Slots[t.sampler.Len()]))
	if err != nil {
		return err
	}
	s.kept = make([]float32, words.rows*words.dim)
	t.compiledStep, t.gradients = s, func() ([]float32, error) { return s.kept, nil }
	return nil
}

func (t *composedStep) optimizers() []parameterOptimizer {
	all := []parameterOptimizer{{t.rows.optimizer, float64(t.rows.Rate)}}
	if own := t.rows.own; own != nil {
		all = append(all, parameterOptimizer{own.optimizer, 1})
	}
	return all
}

func (t *composedStep) run() (float64, error) {
	if err := t.rows.compose(t.every); err != nil {
		return 0, err
	}
	loss, err := t.compiledStep.run()
	if err != nil {
		return 0, err
	}
	t.words, t.slots = t.words[:0], append(t.slots[:0], 0)
	for word := range t.sampler.Len() {
		if share := len(t.sampler.Share(word)); share > 0 {
			t.words, t.slots = append(t.words, uint32(word)), append(t.slots, t.slots[len(t.slots)-1]+uint32(share))
		}
	}
	gradients, err := t.gradients()
	if err != nil {
		return 0, fmt.Errorf("gradients of composed rows: %w", err)
	}
	return loss, t.rows.update(t.words, t.slots, gradients)
}
