package graph

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/w2vcl/w2vcl/internal/operation"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/train/trainer"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// tableEncoder is an encoder whose rows are a table: training is that of a table.
type tableEncoder struct {
	table *tensor.Dense
}

func (e *tableEncoder) Words() int { return e.table.Shape()[0] }
func (e *tableEncoder) Dim() int   { return e.table.Shape()[1] }
func (e *tableEncoder) Parameters() []Parameter {
	return []Parameter{{Name: "words", Value: e.table, OfWords: true}}
}
func (e *tableEncoder) Randomize(seed uint64) {
	trainer.Randomize(e.table.Float32s(), e.Dim(), seed)
}
func (e *tableEncoder) Bytes() (rows, gradient int64) { return 0, 0 }
func (e *tableEncoder) Rows(parameters gorgonia.Nodes, batch []uint32, _ int) (*gorgonia.Node, error) {
	if batch == nil {
		for word := range uint32(e.Words()) {
			batch = append(batch, word)
		}
	}
	n := e.Dim()
	gather := func(in []*tensor.Dense) (*tensor.Dense, error) {
		rows := make([]float32, 0, len(batch)*n)
		for _, word := range batch {
			rows = append(rows, in[0].Float32s()[int(word)*n:][:n]...)
		}
		return dense(rows, len(batch), n), nil
	}
	scatter := func(_ []*tensor.Dense, gradient *tensor.Dense) ([]*tensor.Dense, error) {
		sums := make([]float32, e.Words()*n)
		for i, x := range gradient.Float32s() {
			sums[int(batch[i/n])*n+i%n] += x
		}
		return []*tensor.Dense{dense(sums, e.Words(), n)}, nil
	}
	return operation.Apply("gather", parameters, len(batch), n, gather, scatter)
}

// An encoder of a table trains as the table. In CL both steps then meet the rows that the iteration began with.
func TestTableEncoder(t *testing.T) {
	r := freshRandom(t)
	text := skewedCorpus(t, r, 40, 100)
	matrix := func(x stepCase) func(o Options) model {
		x.v, x.l = 40, 20
		m := x.matrix(t, rand.New(rand.NewPCG(r.Uint64(), 1)))
		return func(o Options) model {
			o.Together, o.SharedNegatives = o.Encoder == nil, x.shared
			return newCL(t, m, 4, o)
		}
	}
	for name, train := range map[string]func(o Options) model{
		"cbow": func(o Options) model {
			o.SharedNegatives = 8
			return newCBOW(t, newStretches(t, text, 100, 8, 1), 4, o)
		},
		"cl":       matrix(stepCase{mean: 1}),
		"tempered": matrix(stepCase{mean: 3, most: 20, tempering: .75, shared: 16}),
		"vanilla": func(o Options) model {
			m, err := NewVanilla(text, uniformNoise(t, 40), VanillaOptions{Window: 2, Batch: 30, Epochs: 4}, o)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { m.Close() })
			return m
		},
	} {
		o := testOptions(9, 3, 2, optim.Adam)
		o.Optimizer.WeightDecay = 0 // a minibatch does not decay an encoder's row whose gradient is zero
		table := train(o)
		o.Encoder = &tableEncoder{dense(make([]float32, 40*9), 40, 9)}
		encoded := train(o)
		fresh := copyState(encoded)
		for unit := range encoded.Units() {
			for _, m := range []model{table, encoded} {
				if _, err := m.Advance(context.Background(), unit, .05); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := encoded.Refresh(); err != nil {
			t.Fatal(err)
		}
		words, contexts := table.Tables()
		gotWords, gotContexts := encoded.Tables()
		if w, c := tableDifference(words, gotWords), tableDifference(contexts, gotContexts); w > 1e-5 || c > 1e-5 {
			t.Errorf("%s: words differ by %v, contexts by %v", name, w, c)
		}
		encoded.Reset()
		for i, s := range encoded.State() {
			if tableDifference(fresh[i].data, s.Data) > 0 {
				t.Errorf("%s: after Reset, %s is not as it was", name, s.Name)
			}
		}
	}
}

// A model is a trainer with its tables.
type model interface {
	stateful
	Tables() (words, contexts []float32)
	Refresh() error
	Reset()
}
