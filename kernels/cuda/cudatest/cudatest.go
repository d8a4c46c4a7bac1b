//go:build gpu

// Package cudatest is shared by tests of kernels: it has a device to test on, random inputs,
// comparisons and the clock of the device.
package cudatest

import (
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/w2vcl/w2vcl/kernels/cuda"
	"gorgonia.org/cu"
)

// Open takes the first GPU, or skips the test.
func Open(t testing.TB) *cuda.Device {
	t.Helper()
	d, err := cuda.Open(0)
	if errors.Is(err, cuda.ErrNoDevice) {
		t.Skip(err)
	}
	Closes(t, d, err)
	return d
}

// OpenGroup takes so many devices that are connected, or skips the test: GPUs of this machine, or if they are
// fewer, several devices on each.
func OpenGroup(t testing.TB, count int, portable bool) []*cuda.Device {
	t.Helper()
	all, _, err := cuda.List()
	if errors.Is(err, cuda.ErrNoDevice) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	var devices []*cuda.Device
	for i := range count {
		var d *cuda.Device
		if i < len(all) {
			d, err = cuda.Open(i)
		} else {
			d, err = devices[i%len(all)].Twin()
		}
		Closes(t, d, err) // the last one first
		if portable {
			d.Portable()
		}
		devices = append(devices, d)
	}
	if err := cuda.Connect(devices); err != nil {
		t.Skip(err)
	}
	return devices
}

// Closes ends the test if what was to be made for it was not, and closes it after the test.
func Closes(t testing.TB, made interface{ Close() error }, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := made.Close(); err != nil {
			t.Error(err)
		}
	})
}

// Dims returns dimensions of rows from 1 value to nearly the most there may be.
func Dims() []int { return []int{1, 50, 100, 128, 300, 500, 1000} }

// Floats returns n random values.
func Floats(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x
}

// seedVariable is the environment variable with the seed of a test that failed, to repeat it.
const seedVariable = "W2VCL_TEST_SEED"

// FreshSeed returns another seed each time: it is in the log.
func FreshSeed(t testing.TB) uint64 {
	seed := rand.Uint64()
	if text := os.Getenv(seedVariable); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("%s: %v", seedVariable, err)
		}
	}
	t.Logf("seed %d", seed)
	return seed
}

// Disturb changes all values by a share of up to change.
func Disturb(values []float32, r *rand.Rand, change float32) {
	for i := range values {
		values[i] *= 1 + change*(2*r.Float32()-1)
	}
}

// Within fails unless got is want to within the tolerance, by the norm of the difference.
func Within(t testing.TB, what string, got, want []float32, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", what, len(got), len(want))
	}
	relative := Difference(got, want)
	t.Logf("%s: relative difference %.1e", what, relative)
	if !(relative <= tolerance) {
		t.Errorf("%s: relative difference %v of a tensor of norm %v, want at most %v", what, relative, norm(want), tolerance)
	}
}

// Difference is the norm of the difference of two tensors by that of the second.
func Difference(got, want []float32) float64 {
	difference := slices.Clone(got)
	for i, w := range want {
		difference[i] -= w
	}
	return norm(difference) / max(norm(want), 1e-15)
}

func norm(x []float32) float64 {
	sum := 0.0
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	return math.Sqrt(sum)
}

// Near is Within for a table that is not zero.
func Near(t testing.TB, what string, got, want []float32, tolerance float64) {
	t.Helper()
	zero := true
	for _, x := range want {
		zero = zero && x == 0
	}
	if zero {
		t.Errorf("%s: all values are zero", what)
	}
	Within(t, what, got, want, tolerance)
}

// Time returns the seconds that the device takes for the launches of f.
func Time(b *testing.B, d *cuda.Device, f func() error) (seconds float64) {
	b.Helper()
	err := d.Do(func() error {
		start, err := cu.MakeEvent(0)
		if err != nil {
			return err
		}
		end, err := cu.MakeEvent(0)
		if err != nil {
			return err
		}
		s := d.Stream()
		if err := errors.Join(start.Record(s), f(), end.Record(s), end.Synchronize()); err != nil {
			return err
		}
		ms, err := start.Elapsed(end)
		seconds = ms / 1e3
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return seconds
}

// CopyBandwidth returns the bytes that a large copy reads and writes in a second.
func CopyBandwidth(b *testing.B, d *cuda.Device) float64 {
	b.Helper()
	const bytes = 2 << 30
	var from, to cu.DevicePtr
	err := d.Do(func() (err error) {
		if from, err = d.Allocate("copy", bytes); err != nil {
			return err
		}
		to, err = d.Allocate("copy", bytes)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	best := math.Inf(1)
	for range 10 {
		best = min(best, Time(b, d, func() error { return cu.MemcpyDtoDAsync(to, from, bytes, d.Stream()) }))
	}
	return 2 * bytes / best
}
