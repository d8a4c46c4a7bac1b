//go:build gpu

package cuda_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"gorgonia.org/cu"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/corpus/corpustest"
	"github.com/w2vcl/w2vcl/kernels/cuda"
	"github.com/w2vcl/w2vcl/kernels/cuda/cudatest"
)

// A copy on a stream of copies comes after the fill of its memory, which no stream waits for.
func TestCopyStream(t *testing.T) {
	const bytes = 4 << 30 // filled in a millisecond or so
	d := cudatest.Open(t)
	err := d.Do(func() error {
		want, err := cuda.Pinned[uint32](1 << 10)
		if err != nil {
			return err
		}
		for i := range want {
			want[i] = 1 + uint32(i)
		}
		a := &cuda.Allocator{Device: d}
		to := a.Bytes("a place to copy to", bytes) + bytes - 4<<10
		if a.Err != nil {
			return a.Err
		}
		s, err := d.NewCopyStream()
		if err != nil {
			return err
		}
		got := make([]uint32, len(want))
		err = errors.Join(cu.MemcpyHtoDAsync(to, unsafe.Pointer(&want[0]), 4<<10, s), s.Synchronize(), d.Stream().Synchronize(), cuda.Receive(got, to))
		if !slices.Equal(got, want) {
			t.Error("what was copied is filled with zeros")
		}
		return errors.Join(err, s.Destroy(), cuda.Unpin(want))
	})
	if err != nil {
		t.Fatal(err)
	}
}

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
			f := a.Function("random", "random_bits", 0)
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

// Rows come back as they were sent, also when they are brought there in several parts, and what lies
// behind them on the device is zero.
func TestRows(t *testing.T) {
	d := cudatest.Open(t)
	r := rand.New(rand.NewPCG(cudatest.FreshSeed(t), 0))
	for _, size := range [][3]int{{1, 1, 4}, {3, 4, 4}, {7, 5, 8}, {9000, 126, 128}, {8192, 127, 128}, {3 << 10, 1000, 1024}} {
		rows, columns, stride := size[0], size[1], size[2]
		sent := make([]float32, rows*columns)
		for i := range sent {
			sent[i] = r.Float32() + 1
		}
		there, back := make([]float32, rows*stride), make([]float32, len(sent))
		err := d.Do(func() error {
			used, err := cuda.Pinned[float32](1 << 22) // memory that was used before is given out again
			if err != nil {
				return err
			}
			for i := range used {
				used[i] = -1
			}
			if err := cuda.Unpin(used); err != nil {
				return err
			}
			p, err := d.Allocate("rows", cuda.Bytes[float32](len(there)))
			if err != nil {
				return err
			}
			return errors.Join(cuda.SendRows(p, sent, columns, stride), cuda.Receive(there, p), cuda.ReceiveRows(back, p, columns, stride), d.Free(p))
		})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(sent, back) {
			t.Errorf("%d rows of %d values with %d: they do not come back", rows, columns, stride)
		}
		for i, x := range there {
			want := float32(0)
			if row, column := i/stride, i%stride; column < columns {
				want = sent[row*columns+column]
			}
			if x != want {
				t.Fatalf("%d rows of %d values with %d: value %d is %v on the device, want %v", rows, columns, stride, i, x, want)
			}
		}
	}
}
