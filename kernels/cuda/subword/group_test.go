//go:build gpu

package subword_test

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/w2vcl/w2vcl/kernels/cuda/cl"
	"github.com/w2vcl/w2vcl/kernels/cuda/cudatest"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/train/device"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// Several devices on one GPU wait for each other, so each stream needs a queue of the GPU for itself.
func init() { os.Setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32") }

// Another device, and groups of several, go on from the state of one and train as it does, to the bit.
func TestGroup(t *testing.T) {
	tempered := wordcontext.Options{Tempering: 1, Positives: 2, MaxPositives: 30}
	counts := []int{1, 2, 4} // one GPU has too few queues for the streams of 8
	for _, x := range []struct {
		encoder            string
		counts             []int
		words, dim         int
		method             optim.Method
		o                  wordcontext.Options
		shared, iterations int
	}{
		{"cnn", counts, 900, 300, optim.Adam, tempered, 64, 9},
		{"cnn", counts, 603, 100, optim.RMSProp, wordcontext.Options{}, 0, 9},
		{"cnn", counts, 8, 50, optim.AdamRow, tempered, 5, 9},
		{"cnn+words", counts, 700, 100, optim.Adam, tempered, 24, cl.SeriesLength + 8}, // most of them recorded
		{"cnn+words", counts, 500, 130, optim.AdamRow, tempered, 0, 9},
		{"cnn of the paper", counts, 3001, 200, optim.AdaGrad, wordcontext.Options{}, 40, 9},
		{"cnn of n-grams", counts[:1], 600, 100, optim.Adam, wordcontext.Options{}, 0, 70},
		{"raw cnn of n-grams+words", counts[:1], 600, 100, optim.Adam, wordcontext.Options{}, 0, 70},
		{"ngrams", counts[:1], 600, 100, optim.Adam, wordcontext.Options{}, 0, 70},
		{"ngrams+words", counts[:1], 600, 100, optim.Adam, wordcontext.Options{}, 0, 70},
	} {
		t.Run(fmt.Sprintf("%s/V=%d/N=%d/%s", x.encoder, x.words, x.dim, x.method), func(t *testing.T) {
			const rate = 1e-2
			o := optim.Options{Method: x.method, WeightDecay: .1, Epsilon: smooth}
			c := newCase(t, x.words, x.dim, cudatest.FreshSeed(t), o, x.o, x.shared, encoders(x.dim)[x.encoder], exact)
			one := c.on(t, cudatest.Open(t))
			train(t, one, 0, x.iterations, rate)
			before := receive(t, c, one)
			losses := train(t, one, x.iterations, x.iterations, rate)
			want := receive(t, c, one)
			for _, count := range x.counts {
				t.Run(fmt.Sprint(count), func(t *testing.T) {
					k := c.on(t, cudatest.OpenGroup(t, count, false)...)
					for name, values := range before {
						if err := k.Send(name, values); err != nil {
							t.Fatal(err)
						}
					}
					some := x.iterations / 2 // graphs and single launches fall elsewhere
					got := append(train(t, k, x.iterations, some, rate), train(t, k, x.iterations+some, x.iterations-some, rate)...)
					if !slices.Equal(got, losses) {
						t.Errorf("losses %v, want %v", got, losses)
					}
					for name, values := range receive(t, c, k) {
						if !slices.Equal(values, want[name]) {
							t.Errorf("other %s", name)
						}
					}
				})
			}
		})
	}
}

// receive receives all tensors of a case.
func receive(t *testing.T, c encodedCase, k device.CLKernels) map[string][]float32 {
	t.Helper()
	state := map[string][]float32{}
	for _, tensor := range c.reference.State() {
		values := make([]float32, len(tensor.Data))
		if err := k.Receive(tensor.Name, values); err != nil {
			t.Fatal(err)
		}
		state[tensor.Name] = values
	}
	return state
}
