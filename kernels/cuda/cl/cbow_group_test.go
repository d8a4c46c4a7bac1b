//go:build gpu

package cl

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/w2vcl/w2vcl/kernels/cuda"
	"github.com/w2vcl/w2vcl/kernels/cuda/cudatest"
	"github.com/w2vcl/w2vcl/optim"
)

// trainsStretches is CBOW or a CBOWGroup.
type trainsStretches interface {
	Stretch(buffer int) *Stretch
	Start(buffer, iteration int, rate float64) error
	Wait(buffer int) (loss float64, err error)
	Send(name string, values []float32) error
	Receive(name string, values []float32) error
	Close() error
}

// newCBOWOn makes CBOW for one device and a CBOWGroup for several.
func newCBOWOn(t testing.TB, devices []*cuda.Device, c CBOWOptions) (k trainsStretches) {
	t.Helper()
	if len(devices) == 1 {
		return newCBOW(t, devices[0], c)
	}
	k, err := NewCBOWGroup(devices, c)
	cudatest.Closes(t, k, err)
	return k
}

// Groups of devices train the tables that one device trains, to the bit.
func TestCBOWGroup(t *testing.T) { testCBOWGroup(t, cbowTests(), nil) }

// So they do on GPUs that run PTX.
func TestCBOWGroupPortable(t *testing.T) {
	testCBOWGroup(t, []cbowTest{{300, 300, 900, 5, 32, optim.Adam, true, true, .5}, {100, 300, 900, 5, 32, optim.SGD, false, false, .5}}, (*cuda.Device).Portable)
}

func testCBOWGroup(t *testing.T, tests []cbowTest, as func(*cuda.Device)) {
	t.Helper()
	devices := map[int][]*cuda.Device{}
	for _, count := range []int{1, 2, 4, 8} {
		devices[count] = cudatest.OpenGroup(t, count, false)
		for _, d := range devices[count] {
			if as != nil {
				as(d)
			}
		}
	}
	for _, x := range tests {
		if x.method == optim.AdamRow {
			continue
		}
		t.Run(fmt.Sprintf("%+v", x), func(t *testing.T) {
			seed := cudatest.FreshSeed(t)
			state, losses := trainCBOW(t, devices[1], x, seed)
			for _, count := range []int{2, 4, 8} {
				got, gotLosses := trainCBOW(t, devices[count], x, seed)
				for name, values := range state {
					if !slices.Equal(got[name], values) {
						t.Errorf("%d devices: %s differs: %s", count, name, difference(got[name], values))
					}
				}
				if !slices.Equal(gotLosses, losses) {
					t.Errorf("%d devices: losses %v, want %v", count, gotLosses, losses)
				}
			}
		})
	}
}

// trainCBOW trains a random problem that follows from a seed, and returns the state and the losses. It trains before and after the
// state was sent again.
func trainCBOW(t *testing.T, devices []*cuda.Device, x cbowTest, seed uint64) (state map[string][]float32, losses []float64) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	o := optim.Options{Method: x.method, WeightDecay: .1, Epsilon: 1e-3}.WithDefaults()
	c := CBOWOptions{
		Rows: x.words, Dim: x.dim, Negatives: 5, SharedNegatives: x.shared, Places: x.places, Window: x.window, Buffers: 2,
		Method: string(o.Method), Beta1: o.Beta1, Beta2: o.Beta2, Epsilon: o.Epsilon, WeightDecay: o.WeightDecay,
	}
	rows := map[string]int{"contexts": x.words}
	if x.composed {
		c.Composition = randomComposition(r, x.words, x.dim, x.own)
		rows["parts"] = c.Composition.PartCount()
	}
	if x.own || !x.composed {
		rows["words"] = x.words
	}
	k := newCBOWOn(t, devices, c)
	state = map[string][]float32{}
	for _, name := range []string{"contexts", "words", "parts"} {
		if n := rows[name]; n > 0 {
			state[name] = newPlainTable(t, r, n, x.dim, o).values
			method := methodOf(c.Method)
			if method.First {
				state[name+".first-moment"] = make([]float32, n*x.dim)
			}
			if method.Second {
				state[name+".second-moment"] = make([]float32, n*x.dim)
			}
		}
	}
	state["contexts.updates"] = make([]float32, x.words)
	if x.composed {
		state["parts.updates"] = make([]float32, rows["parts"])
	}
	for n := range 2 {
		for name, values := range state {
			if err := k.Send(name, values); err != nil {
				t.Fatal(err)
			}
		}
		losses = append(losses, trainSome(t, k, x, r, 5*n)...)
		for name, values := range state {
			before := slices.Clone(values)
			if err := k.Receive(name, values); err != nil {
				t.Fatal(err)
			}
			if name == contexts && slices.Equal(values, before) {
				t.Errorf("%d devices: %s did not change", len(devices), name)
			}
		}
	}
	return state, losses
}

// trainSome trains five iterations, two at a time, and returns their losses.
func trainSome(t *testing.T, k trainsStretches, x cbowTest, r *rand.Rand, first int) (losses []float64) {
	t.Helper()
	wait := func(i int) {
		loss, err := k.Wait(i % 2)
		if err != nil {
			t.Fatal(err)
		}
		losses = append(losses, loss)
	}
	for i := first; i < first+5; i++ {
		if i > first+1 {
			wait(i - 2)
		}
		fillStretch(r, k.Stretch(i%2), x.words, max(2, x.places-(i-first)*x.places/9), x.window, x.shared, x.skew, true)
		if err := k.Start(i%2, i, .005); err != nil {
			t.Fatal(err)
		}
	}
	wait(first + 3)
	wait(first + 4)
	return losses
}

func TestCBOWGroupErrors(t *testing.T) {
	c := CBOWOptions{Rows: 5, Dim: 4, Negatives: 2, SharedNegatives: 3, Places: 9, Window: 2, Buffers: 1, Method: "adam", Beta1: .9, Beta2: .999, Epsilon: 1e-8}
	for count, want := range map[int]string{1: "2, 4 or 8", 3: "2, 4 or 8"} {
		if _, err := NewCBOWGroup(cudatest.OpenGroup(t, count, false), c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d devices: error %v", count, err)
		}
	}
	two := cudatest.OpenGroup(t, 2, false)
	ofRows := c
	ofRows.Method = "adam-row"
	if _, err := NewCBOWGroup(two, ofRows); err == nil || !strings.Contains(err.Error(), "whole rows") {
		t.Errorf("%s: error %v", ofRows.Method, err)
	}
	bad := c
	bad.Rows = 0
	if _, err := NewCBOWGroup(two, bad); err == nil {
		t.Error("no rows: no error")
	}
	k := newCBOWOn(t, two, c)
	if err := k.Start(0, 0, .1); err == nil {
		t.Error("no error for an empty stretch")
	}
}

// An iteration on 1, 2, 4 and 8 GPUs, as many as there are, by turns: the median µs, and how often faster than on one GPU.
func BenchmarkCBOWGroup(b *testing.B) {
	all, _, err := cuda.List()
	if errors.Is(err, cuda.ErrNoDevice) {
		b.Skip(err)
	}
	for _, parts := range []bool{false, true} {
		for _, dim := range []int{100, 300} {
			b.Run(fmt.Sprintf("N=%d/parts=%v", dim, parts), func(b *testing.B) {
				var groups []trainsStretches
				for count := 1; count <= len(all); count *= 2 {
					groups = append(groups, benchmarkCBOW(b, cudatest.OpenGroup(b, count, false), dim, 45_000, parts))
				}
				const iterations = 100
				seconds := make([][]float64, len(groups))
				for b.Loop() {
					for i, k := range groups {
						start := time.Now()
						trainRepeated(b, k, iterations, .001)
						seconds[i] = append(seconds[i], time.Since(start).Seconds()/iterations)
					}
				}
				var one float64
				for i, of := range seconds {
					slices.Sort(of)
					median := of[len(of)/2]
					if i == 0 {
						one = median
					}
					b.Logf("%d GPUs: %.1f µs an iteration (%.1f to %.1f), %.2f times one GPU", 1<<i, median*1e6, of[0]*1e6, of[len(of)-1]*1e6, one/median)
				}
			})
		}
	}
}

// trainRepeated trains iterations on the stretches of two buffers in turns, at a learning rate.
func trainRepeated(t testing.TB, k trainsStretches, iterations int, rate float64) {
	t.Helper()
	for i := range iterations + 2 {
		if i > 1 {
			if _, err := k.Wait(i % 2); err != nil {
				t.Fatal(err)
			}
		}
		if i < iterations {
			if err := k.Start(i%2, i, rate); err != nil {
				t.Fatal(err)
			}
		}
	}
}
