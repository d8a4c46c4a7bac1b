//go:build gpu

package cuda_test

import (
	"embed"
	"errors"
	"strings"
	"testing"

	"gorgonia.org/cu"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/corpus/corpustest"
	"github.com/w2vcl/w2vcl/kernels/cuda"
	"github.com/w2vcl/w2vcl/kernels/cuda/cudatest"
)

//go:embed built
var built embed.FS

// Random bits and alias draws equal those of the CPU.
func TestRandom(t *testing.T) {
	d := cudatest.Open(t)
	seed := cudatest.FreshSeed(t)
	_, noise := corpustest.Read(t, corpustest.Zipf(1, 5000, 300, 40))
	for _, first := range []uint64{0, 3, 1<<34 - 5, 1<<58 + 1} {
		const count = 1000
		stream := corpus.StreamNegatives.Sub(0xFEDCBA98)
		bits, drawn := make([]uint32, count), make([]uint32, count)
		err := d.Do(func() error {
			a := &cuda.Allocator{Device: d}
			f := a.Function(built, "random", "random_bits", 0)
			b, n := cuda.Placed(a, "bits", bits), cuda.Placed(a, "drawn", drawn)
			args := cuda.Placed(a, "arguments", []uint64{
				seed, first, uint64(stream)>>32 | uint64(stream)<<32, count | uint64(noise.Len())<<32,
				uint64(cuda.Placed(a, "alias", noise.Table())), uint64(b), uint64(n),
			})
			if a.Err != nil {
				return a.Err
			}
			if err := d.LaunchValues(f, cuda.Grid{Blocks: (count + 127) / 128, Threads: 128}, uint64(args)); err != nil {
				return err
			}
			return errors.Join(d.Stream().Synchronize(), cuda.Receive(bits, b), cuda.Receive(drawn, n))
		})
		if err != nil {
			t.Fatal(err)
		}
		for i := range bits {
			at := first + uint64(i)
			if want := corpus.Philox(seed, stream, at/4)[at%4]; bits[i] != want || drawn[i] != noise.Draw(want) {
				t.Fatalf("bits %d are %#x and draw %d, want %#x and %d", at, bits[i], drawn[i], want, noise.Draw(want))
			}
		}
	}
}

func TestOpenErrors(t *testing.T) {
	cudatest.Open(t)
	for _, ordinal := range []int{-1, 1000} {
		if _, err := cuda.Open(ordinal); err == nil || !strings.Contains(err.Error(), "counted from 0") {
			t.Errorf("device %d: error %v", ordinal, err)
		}
	}
}

func TestOutOfMemory(t *testing.T) {
	d := cudatest.Open(t)
	err := d.Do(func() error { _, err := d.Allocate("too much", 1<<50); return err })
	if err == nil || !strings.Contains(err.Error(), "are free") {
		t.Errorf("error %v", err)
	}
}

// Peak counts allocated bytes, Occupied the bytes that were not free before. The device has both.
func TestMemory(t *testing.T) {
	d := cudatest.Open(t)
	const bytes = 64 << 20
	var p cu.DevicePtr
	if err := d.Do(func() (err error) { p, err = d.Allocate("some", bytes); return err }); err != nil {
		t.Fatal(err)
	}
	free, total, err := d.Memory()
	if err != nil {
		t.Fatal(err)
	}
	if d.Occupied() <= 0 || d.Peak() != bytes || free > total-bytes {
		t.Errorf("%d bytes allocated: occupied %d, peak %d, free %d of %d", bytes, d.Occupied(), d.Peak(), free, total)
	}
	if err := d.Do(func() error { return d.Free(p) }); err != nil {
		t.Fatal(err)
	}
	if d.Peak() != bytes {
		t.Errorf("peak %d after freeing, want %d", d.Peak(), bytes)
	}
}
