package device_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/w2vcl/w2vcl/graph"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/train/device"
	"github.com/w2vcl/w2vcl/train/device/devicetest"
	"github.com/w2vcl/w2vcl/train/trainer"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// Any number of GPUs goes on from the state of any other number. That several GPUs compute the bits of one is tested in
// kernels/cuda/cl.
func TestSeveralGPUs(t *testing.T) {
	const units = 24
	for _, x := range []struct {
		dim       int
		method    optim.Method
		free      int64
		tempering float64
		shared    int
		precision device.Precision
	}{
		{3, optim.SGD, plenty, 0, 0, device.Float32}, {70, optim.Adam, plenty, 0, 0, device.Float32}, {130, optim.AdamRow, little, 0, 0, device.Float32},
		{30, optim.Adam, plenty, 1, 7, device.Float32}, {20, optim.AdamRow, little, .75, 0, device.Half}, {10, optim.SGD, plenty, 0, 0, device.Half},
	} {
		seed := freshSeed(t)
		c, noise := text(t, seed, 1000)
		m, err := wordcontext.Build(t.Context(), c, wordcontext.Options{Window: 2, Contexts: 20, Passes: 1, Seed: seed, Tempering: x.tempering, Positives: 1 + x.tempering, MaxPositives: 8})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { m.Close() })
		options := graph.Options{Dim: x.dim, Negatives: 3, SharedNegatives: x.shared, Seed: seed, Threads: 2, Optimizer: optim.Options{Method: x.method, WeightDecay: .1}}
		// trained returns the state after units from one on, on so many GPUs.
		trained := func(gpus, from int, state []trainer.Tensor) []trainer.Tensor {
			fake := devicetest.New()
			fake.Free, fake.Parts, fake.Matrix = x.free, gpus, m
			k, err := device.NewCL(fake, m, noise, 100, options, x.precision)
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
					t.Errorf("%+v, on %d GPUs and then %d: %s differs from that of one", x, gpus[0], gpus[1], tensor.Name)
				}
			}
		}
	}
}

func several(gpus int) device.Device {
	d := devicetest.New()
	d.Parts = gpus
	return d
}

// GPUs that share the rows have both tables whole, and the moments of their rows.
func TestMemoryOfRows(t *testing.T) {
	options := graph.Options{Dim: 512, Negatives: 5, SharedNegatives: 64, Optimizer: optim.Options{Method: optim.Adam}}
	const values = 512 * 1_000_000
	for _, gpus := range []int64{1, 2, 4, 8} {
		for precision, want := range map[device.Precision]int64{device.Float32: 2 * (4*values + 8*values/gpus), device.Half: 2 * (2*values + 6*values/gpus)} {
			bytes, err := device.MemoryCL(several(int(gpus)), 1_000_000, 1_000_000, options, precision)
			if err != nil {
				t.Fatal(err)
			}
			if bytes < want || bytes > want+700<<20 {
				t.Errorf("%d GPUs, %s: %d bytes, want %d and samples", gpus, precision, bytes, want)
			}
		}
	}
}

// GPUs that exchange by messages have a place for each row and GPU.
func TestMemoryOfMessages(t *testing.T) {
	const words, gpus = 1_000_000, 4
	options := graph.Options{Dim: 512, Negatives: 5, Optimizer: optim.Options{Method: optim.Adam}}
	d, _ := byMessages(t, gpus)
	defer d.Close()
	var bytes [2]int64
	for i, d := range []device.Device{d, several(gpus)} {
		var err error
		if bytes[i], err = device.MemoryCL(d, words, words, options, device.Float32); err != nil {
			t.Fatal(err)
		}
	}
	if more, most := bytes[0]-bytes[1], int64(8*words*6*gpus); more > most || more < most-30<<20 {
		t.Errorf("%d bytes more, want about %d", more, most)
	}
}

// The memory of each GPU falls with their number, but for the samples.
func TestMemoryOfSeveral(t *testing.T) {
	options := graph.Options{Dim: 512, Negatives: 5, Optimizer: optim.Options{Method: optim.Adam}}
	var before int64
	for _, gpus := range []int{1, 2, 4, 8} {
		bytes, err := device.MemoryCL(several(gpus), 1_000_000, 1_000_000, options, device.Float32)
		if err != nil {
			t.Fatal(err)
		}
		const tables = 6 * 4 * 512 * 1_000_000
		if most := int64(tables/gpus) + 600<<20; bytes < int64(tables/gpus) || bytes > most {
			t.Errorf("%d GPUs: %d bytes, want %d at most", gpus, bytes, most)
		}
		if before > 0 && bytes >= before {
			t.Errorf("%d GPUs: %d bytes, half as many need %d", gpus, bytes, before)
		}
		before = bytes
	}
}
