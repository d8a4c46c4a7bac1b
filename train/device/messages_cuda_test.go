//go:build gpu

package device_test

import (
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/w2vcl/w2vcl/graph"
	"github.com/w2vcl/w2vcl/kernels/cuda/cudatest"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/sequential"
	"github.com/w2vcl/w2vcl/train/device"
	"github.com/w2vcl/w2vcl/train/trainer"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// Two ranks that exchange by NCCL train cl to the bits of one GPU, and a sentence-ordered mode.
func TestByNCCL(t *testing.T) {
	seed := freshSeed(t)
	c, noise := text(t, seed, 20_000)
	m, err := wordcontext.Build(t.Context(), c, wordcontext.Options{Window: 2, Contexts: 100, Passes: 1, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	open := func(names ...string) device.Device {
		var all []device.Device
		for _, name := range names {
			d, err := device.Open(name)
			if err != nil {
				for _, d := range all {
					err = errors.Join(err, d.Close())
				}
				t.Skip(err)
			}
			all = append(all, d)
		}
		if len(all) == 1 {
			return all[0]
		}
		d, err := device.NewByMessages(all)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	if _, err := device.NCCL(); err != nil {
		t.Skip(err)
	}
	cl := func(d device.Device) ([]float32, []float32, []trainer.Report) {
		k, err := device.NewCL(d, m, noise, 70, graph.Options{Dim: 100, Negatives: 5, Seed: seed, Threads: 2, Optimizer: optim.Options{Method: optim.Adam}}, device.Float32)
		if err != nil {
			t.Fatal(err)
		}
		return trained(t, k, d)
	}
	second := "cuda:1"
	if os.Getenv(cudatest.SharedGPUVariable) == "1" {
		second = "cuda:0"
	}
	two := open("cuda:0", second)
	words, contexts, _ := cl(open("cuda:0"))
	gotWords, gotContexts, _ := cl(two)
	if !slices.Equal(gotWords, words) || !slices.Equal(gotContexts, contexts) {
		t.Error("two GPUs: other tables than one")
	}
	d := open("cuda:0", second)
	k, err := device.NewSequential(d, c, noise, sequential.Options{Algorithm: sequential.FullW2V, Dim: 64, Window: 3, Negatives: 5, Epochs: 2, Seed: seed}, device.Float32)
	if err != nil {
		t.Fatal(err)
	}
	var loss, pairs float64 // of all units: one of a short text may have no pair
	for _, r := range train(t, k, 0, k.Units()) {
		loss, pairs = loss+r.Loss, pairs+r.Pairs
	}
	if !(loss > 0 && loss < 5*pairs) {
		t.Errorf("loss %v of %v pairs", loss, pairs)
	}
	if err := errors.Join(k.Close(), d.Close()); err != nil {
		t.Error(err)
	}
}
