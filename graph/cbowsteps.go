package graph

import (
	"errors"
	"fmt"

	"github.com/w2vcl/w2vcl/graph/step"
	"github.com/w2vcl/w2vcl/internal/operation"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// fusedCBOW is an iteration of CBOW as one graph:
//
//	h = means of windows (words)     words: (V, N)  h: (T, N)
//	trained = contexts after step 1, against frozen h
//	loss = skip-gram loss of h, frozen trained
//
// Gorgonia derives the gradient of the loss for words, through h.
type fusedCBOW struct {
	*machine
	of                *CBOW
	contexts, windows *skipGram      // steps 1 and 2
	gradients         gorgonia.Nodes // of words; none if an encoder has its own
}

func newFusedCBOW(t *CBOW) (s *fusedCBOW, err error) {
	defer operation.Recovered("build the graph of CBOW", &err)
	c, workers := t.options, t.team
	s = &fusedCBOW{of: t}
	if s.contexts, err = newSkipGram(&t.samplers[0], nil, workers, t.contexts.optimizer, c); err != nil {
		return nil, err
	}
	if s.windows, err = newSkipGram(&t.samplers[1], nil, workers, nil, c); err != nil {
		return nil, err
	}
	s.windows.core.Root = false
	g := gorgonia.NewGraph()
	var words *gorgonia.Node
	var parameters gorgonia.Nodes
	if t.encoder == nil {
		words = matrix(g, "words", t.words.dense)
	} else if parameters, words, err = t.encoder.compose(g, nil); err != nil {
		return nil, err
	}
	contexts := matrix(g, "contexts", t.contexts.dense)
	h, err := operation.Apply("means of windows", gorgonia.Nodes{words}, t.capacity, c.Dim, t.windows.forward, t.windows.backward)
	if err != nil {
		return nil, err
	}
	trained, err := operation.Apply("step 1, "+s.contexts.String(), gorgonia.Nodes{contexts, h}, t.contexts.rows, c.Dim, s.trainContexts, nil)
	if err != nil {
		return nil, err
	}
	loss, err := s.windows.apply(h, trained)
	if err != nil {
		return nil, err
	}
	if e, ok := t.made.(*encoderRows); ok {
		e.graph, e.rows = g, words
		s.machine, err = e.differentiate(g, loss, parameters)
		return s, err
	}
	if s.gradients, err = gorgonia.Grad(loss, words); err != nil {
		return nil, fmt.Errorf("differentiate the graph of CBOW: %w", err)
	}
	s.machine, err = newMachine(g)
	return s, err
}

// trainContexts is step 1. Its result is the table of contexts itself, trained.
func (s *fusedCBOW) trainContexts(in []*tensor.Dense) (*tensor.Dense, error) {
	if _, err := s.contexts.Do(in[0], in[1]); err != nil {
		return nil, err
	}
	return in[0], nil
}

func (s *fusedCBOW) run() (loss float64, gradients []float32, err error) {
	for _, op := range []*skipGram{s.contexts, s.windows} {
		sampler := op.core.Sampler
		op.core.Blocks = step.Blocks(sampler.Len(), sampler, func(i int) float64 { return float64(len(sampler.Share(i))) })
	}
	if err := s.machine.run(); err != nil {
		return 0, nil, err
	}
	loss = s.contexts.loss + s.windows.loss
	if s.gradients == nil {
		return loss, nil, nil
	}
	gradients, err = floatsOf(s.gradients[0])
	return loss, gradients, err
}

func (s *fusedCBOW) machines() []*machine { return []*machine{s.machine} }

// stockCBOW is an iteration of CBOW whose steps are stock operations.
type stockCBOW struct {
	windows            *windows
	words, h           *table
	contexts, ofWindow *stockStep // steps 1 and 2
}

func newStockCBOW(t *CBOW) (*stockCBOW, error) {
	h := &table{name: "windows", rows: t.capacity, dim: t.options.Dim, data: t.windows.means.Float32s(), dense: t.windows.means}
	s := &stockCBOW{windows: t.windows, words: t.words, h: h}
	var err [2]error
	s.contexts, err[0] = newStockStep(t.contexts, h, &t.samplers[0], t.capacity)
	s.ofWindow, err[1] = newStockStep(h, t.contexts, &t.samplers[1], t.capacity)
	if err := errors.Join(err[:]...); err != nil {
		return nil, err
	}
	s.ofWindow.kept = make([]float32, t.capacity*t.options.Dim)
	return s, nil
}

func (s *stockCBOW) run() (float64, []float32, error) {
	if _, err := s.windows.forward([]*tensor.Dense{s.words.dense}); err != nil {
		return 0, nil, err
	}
	first, err := s.contexts.run()
	if err != nil {
		return 0, nil, err
	}
	second, err := s.ofWindow.run()
	if err != nil {
		return 0, nil, err
	}
	gradients, err := s.windows.backward(nil, dense(s.ofWindow.kept, s.h.rows, s.h.dim))
	if err != nil {
		return 0, nil, err
	}
	return first + second, gradients[0].Float32s(), nil
}

func (s *stockCBOW) machines() []*machine {
	return []*machine{s.contexts.compiled(), s.ofWindow.compiled()}
}
