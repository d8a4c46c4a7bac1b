package device_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/w2vcl/w2vcl/device"
	"github.com/w2vcl/w2vcl/device/devicetest"
	"github.com/w2vcl/w2vcl/graph"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/trainer"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// Any number of GPUs trains the same tables, to the bit, and goes on from the state of any other number.
func TestSeveralGPUs(t *testing.T) {
	const units = 24
	for _, x := range []struct {
		dim    int
		method optim.Method
		free   int64
	}{{3, optim.SGD, plenty}, {70, optim.Adam, plenty}, {130, optim.AdamRow, little}} {
		seed := freshSeed(t)
		c, noise := text(t, seed, 1000)
		m, err := wordcontext.Build(t.Context(), c, wordcontext.Options{Window: 2, Contexts: 20, Passes: 1, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { m.Close() })
		config := graph.Config{Dim: x.dim, Negatives: 3, Seed: seed, Threads: 2, Optimizer: optim.Config{Method: x.method, WeightDecay: .1}}
		// trained returns the state after units from one on, on so many GPUs.
		trained := func(gpus, from int, state []trainer.Tensor) []trainer.Tensor {
			fake := devicetest.New()
			fake.Free, fake.Parts = x.free, gpus
			k, err := device.NewCL(fake, m, noise, 100, config, device.Float32)
			if err != nil {
				t.Fatal(err)
			}
			for i, tensor := range state {
				copy(k.State()[i].Data, tensor.Data)
			}
			if state != nil {
				k.Push()
			}
			to := from + units/2
			train(t, k, from, to)
			if err := k.Pull(true); err != nil {
				t.Fatal(err)
			}
			var copies []trainer.Tensor
			for _, tensor := range k.State() {
				copies = append(copies, trainer.Tensor{Name: tensor.Name, Data: slices.Clone(tensor.Data)})
			}
			if err := errors.Join(k.Close(), fake.Close()); err != nil {
				t.Error(err)
			}
			return copies
		}
		want := trained(1, units/2, trained(1, 0, nil))
		for _, gpus := range [][2]int{{2, 2}, {4, 1}, {8, 4}, {1, 2}} {
			got := trained(gpus[1], units/2, trained(gpus[0], 0, nil))
			for i, tensor := range want {
				if !slices.Equal(got[i].Data, tensor.Data) {
					t.Errorf("N = %d, %s, on %d GPUs and then %d: %s differs from that of one", x.dim, x.method, gpus[0], gpus[1], tensor.Name)
				}
			}
		}
	}
}

// What several GPUs have no kernels for is refused by its name.
func TestCheckSeveral(t *testing.T) {
	plain := wordcontext.Options{Positives: 1}
	if err := device.CheckSeveral(graph.Config{}, plain, device.Float32); err != nil {
		t.Error(err)
	}
	for want, err := range map[string]error{
		"Tempering":       device.CheckSeveral(graph.Config{}, wordcontext.Options{Tempering: .5}, device.Float32),
		"Positives":       device.CheckSeveral(graph.Config{}, wordcontext.Options{Positives: 2}, device.Float32),
		"SharedNegatives": device.CheckSeveral(graph.Config{SharedNegatives: 64}, plain, device.Float32),
		"Precision":       device.CheckSeveral(graph.Config{}, plain, device.Half),
	} {
		var unsupported *device.UnsupportedError
		if !errors.As(err, &unsupported) || unsupported.Setting != want {
			t.Errorf("error %v, want one of %s", err, want)
		}
	}
}

// The memory of each GPU falls with their number, but for what they exchange and the samples.
func TestMemoryOfSeveral(t *testing.T) {
	config := graph.Config{Dim: 512, Negatives: 5, Optimizer: optim.Config{Method: optim.Adam}}
	var before int64
	for _, gpus := range []int{1, 2, 4, 8} {
		bytes, err := device.MemoryCL(1_000_000, 1_000_000, config, device.Float32, gpus)
		if err != nil {
			t.Fatal(err)
		}
		const tables = 6 * 4 * 512 * 1_000_000
		exchanged := int64(gpus-1) * 2 * 8 * 6 * 1_000_000
		if most := tables/int64(gpus) + exchanged + 600<<20; bytes < tables/int64(gpus)+exchanged || bytes > most {
			t.Errorf("%d GPUs: %d bytes, want %d at most", gpus, bytes, most)
		}
		if before > 0 && bytes >= before {
			t.Errorf("%d GPUs: %d bytes, half as many need %d", gpus, bytes, before)
		}
		before = bytes
	}
}
