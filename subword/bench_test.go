package subword

import (
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/optim"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// BenchmarkStep is the encoder's work in step 1 of W2V-CL: the vectors of the whole
// vocabulary, from their gradient the gradients of all parameters, and Adam on them.
// V = 18,498, N = 100; the CNN has L = 16, E = 32 and 64 filters of each of the widths 2, 3, 4.
func BenchmarkStep(b *testing.B) {
	const v, n = 18498, 100
	r := rand.New(rand.NewPCG(1, 1))
	vocabulary := func(shortest, longest int) []string {
		words := make([]string, v)
		for i := range words {
			var word strings.Builder
			for range shortest + r.IntN(longest-shortest+1) {
				word.WriteByte(byte('a' + min(r.IntN(26), r.IntN(26))))
			}
			words[i] = word.String()
		}
		return words
	}
	full, err := NewNetwork("cnn", vocabulary(14, 14), NetworkOptions{Dim: n}) // every word as long as can be
	if err != nil {
		b.Fatal(err)
	}
	usual, err := NewNetwork("cnn", vocabulary(3, 12), NetworkOptions{Dim: n})
	if err != nil {
		b.Fatal(err)
	}
	for _, test := range []struct {
		name    string
		encoder Encoder
	}{{"cnn,16-symbols", full}, {"cnn,5-14-symbols", usual}, {"cnn+words,16-symbols", WithWords(full)}} {
		b.Run(test.name, func(b *testing.B) { benchmarkStep(b, r, test.encoder) })
	}
}

func benchmarkStep(b *testing.B, r *rand.Rand, e Encoder) {
	threads := runtime.GOMAXPROCS(0)
	e.Randomize(1)
	g := gorgonia.NewGraph()
	var nodes gorgonia.Nodes
	var optimizers []optim.Optimizer
	for _, p := range e.Parameters() {
		shape := p.Value.Shape()
		nodes = append(nodes, gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithName(p.Name), gorgonia.WithShape(shape...), gorgonia.WithValue(p.Value)))
		o, err := optim.New(optim.Options{Method: optim.Adam}, shape[0], shape[1])
		if err != nil {
			b.Fatal(err)
		}
		optimizers = append(optimizers, o)
	}
	rows, err := e.Rows(nodes, nil, threads)
	if err != nil {
		b.Fatal(err)
	}
	// A loss whose gradient for the rows is a matrix: what is left is the encoder's own work.
	ofRows := randomMatrix(r, e.Words(), e.Dim())
	weights := gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithName("weights"), gorgonia.WithShape(ofRows.Shape()...), gorgonia.WithValue(ofRows))
	loss := gorgonia.Must(gorgonia.Sum(gorgonia.Must(gorgonia.HadamardProd(rows, weights))))
	gradients, err := gorgonia.Grad(loss, nodes...)
	if err != nil {
		b.Fatal(err)
	}
	machine := gorgonia.NewTapeMachine(g)
	step := 0
	b.ReportAllocs()
	for b.Loop() {
		step++
		machine.Reset()
		if err := machine.RunAll(); err != nil {
			b.Fatal(err)
		}
		for i, p := range e.Parameters() {
			o, w, d := optimizers[i], p.Value.Float32s(), gradients[i].Value().(*tensor.Dense).Float32s()
			o.Begin(step, .001)
			columns := p.Value.Shape()[1]
			for row := range p.Value.Shape()[0] {
				o.UpdateRow(row, w[row*columns:][:columns], d[row*columns:][:columns])
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/step")
}
