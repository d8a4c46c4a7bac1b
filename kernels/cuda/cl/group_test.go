//go:build gpu

package cl

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/kernels/cuda"
	"github.com/w2vcl/w2vcl/kernels/cuda/cudatest"
)

// A groupCase is W2V-CL of random numbers.
type groupCase struct {
	rows, dim, negatives int
	method               string
}

// Groups of devices train the tables that one device trains, to the bit.
func TestGroup(t *testing.T) {
	var cases []groupCase
	for _, dim := range []int{1, 5, 30, 100, 128, 129, 300, 500, 700, 1024} {
		cases = append(cases, groupCase{1003, dim, 5, "adam"})
	}
	for _, k := range []int{1, 7, 8, 20, 31, 40} {
		cases = append(cases, groupCase{501, 100, k, "adam"})
	}
	for _, m := range cuda.Methods() {
		cases = append(cases, groupCase{1003, 300, 5, m.Name}, groupCase{77, 500, 9, m.Name}, groupCase{3001, 100, 5, m.Name}, groupCase{77, 128, 3, m.Name})
	}
	cases = append(cases, groupCase{501, 500, 2, "adam"}, groupCase{77, 1000, 4, "adam-row"}, groupCase{77, 200, 1, "adam"})      // fewer than few targets
	cases = append(cases, groupCase{8001, 500, 5, "adam"}, groupCase{8001, 300, 9, "adam-row"}, groupCase{20_000, 20, 5, "adam"}) // several rounds
	testGroups(t, append(cases, groupCase{1, 8, 2, "adam"}), false)
}

// So they do on GPUs that run PTX.
func TestGroupPortable(t *testing.T) {
	testGroups(t, []groupCase{{1003, 300, 5, "adam"}, {501, 500, 9, "adam-row"}, {501, 100, 5, "adam"}, {501, 60, 2, "adam-row"}}, true)
}

func testGroups(t *testing.T, cases []groupCase, portable bool) {
	devices := map[int][]*cuda.Device{}
	for _, count := range []int{1, 2, 4, 8} {
		devices[count] = cudatest.OpenGroup(t, count, portable)
	}
	for _, x := range cases {
		t.Run(fmt.Sprintf("V=%d/N=%d/K=%d/%s", x.rows, x.dim, x.negatives, x.method), func(t *testing.T) {
			c, noise := randomCase(x.rows, x.dim, x.negatives, x.method)
			testGroup(t, devices, c, noise)
		})
	}
}

func testGroup(t *testing.T, devices map[int][]*cuda.Device, c Options, noise *corpus.Alias) {
	state := randomState(c)
	rates := slices.Repeat([]float64{1e-2}, SeriesLength+3)
	var want map[string][]float32
	var wantLoss float64
	for _, count := range []int{1, 2, 4, 8} {
		got, loss := trainState(t, newTrained(t, devices[count], c), c, noise, state, rates, true)
		if count == 1 {
			want, wantLoss = got, loss
		}
		for name, values := range want {
			if !slices.Equal(got[name], values) {
				t.Errorf("%d devices: %s differs: %s", count, name, difference(got[name], values))
			}
			if slices.Equal(state[name], values) {
				t.Errorf("%d devices: %s did not change", count, name)
			}
		}
		if !(math.Abs(loss-wantLoss) <= 1e-5*wantLoss) || c.SplitsRows() && loss != wantLoss {
			t.Errorf("%d devices: loss %v, want %v", count, loss, wantLoss)
		}
	}
}

// newTrained makes Kernels for one device and a Group for several.
func newTrained(t testing.TB, devices []*cuda.Device, c Options) (k trained) {
	t.Helper()
	var err error
	if len(devices) == 1 {
		k, err = New(devices[0], c)
	} else {
		k, err = NewGroup(devices, c)
	}
	cudatest.Closes(t, k, err)
	return k
}

func difference(got, want []float32) string {
	n, most := 0, 0.0
	for i := range want {
		if got[i] != want[i] {
			n, most = n+1, max(most, math.Abs(float64(got[i]-want[i])))
		}
	}
	return fmt.Sprintf("%d of %d values, by %.2g at most", n, len(want), most)
}

func randomCase(rows, dim, negatives int, method string) (Options, *corpus.Alias) {
	weights := make([]float64, rows)
	for i := range weights {
		weights[i] = math.Pow(float64(i+1), -.75)
	}
	noise, err := corpus.NewAlias(weights)
	if err != nil {
		panic(err)
	}
	return Options{Rows: rows, Dim: dim, Negatives: negatives, Seed: rand.Uint64(), Alias: noise.Table(), Method: method, Beta1: .9, Beta2: .999, Epsilon: 1e-8, WeightDecay: .1}, noise
}

// randomState returns tensors of the state after some training.
func randomState(c Options) map[string][]float32 {
	state := map[string][]float32{}
	random := rand.New(rand.NewPCG(rand.Uint64(), 0))
	for _, side := range []string{"words", "contexts"} {
		values := func(name string, n int, at func() float32) {
			state[side+name] = make([]float32, n)
			for i := range state[side+name] {
				state[side+name][i] = at()
			}
		}
		values("", c.Rows*c.Dim, func() float32 { return (random.Float32() - .5) / 4 })
		m := methodOf(c.Method)
		if m.First {
			values(".first-moment", c.Rows*c.Dim, func() float32 { return (random.Float32() - .5) / 100 })
		}
		if m.Second {
			values(".second-moment", c.Rows*c.Dim, func() float32 { return random.Float32() / 1000 })
		}
		if m.SecondOfRow {
			values(".second-moment", c.Rows, func() float32 { return random.Float32() / 1000 })
		}
	}
	return state
}

// A trained is Kernels or a Group.
type trained interface {
	Samples(buffer int) ([]uint32, error)
	SeriesLength() int
	Start(buffer, first int, rates []float64) error
	Wait(buffer int) (losses, samples []float64, err error)
	Send(name string, values []float32) error
	Receive(name string, values []float32) error
	Close() error
}

// trainState trains iterations from a state, with samples that follow from the options, and returns the state
// and the last loss. Some rows have no contexts, if wanted.
func trainState(t testing.TB, k trained, c Options, noise *corpus.Alias, state map[string][]float32, rates []float64, withoutContexts bool) (map[string][]float32, float64) {
	t.Helper()
	for name, values := range state {
		if err := k.Send(name, values); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := k.Samples(1); err != nil { // for callers that train with it, too
		t.Fatal(err)
	}
	loss, number := 0.0, 0
	for part := range slices.Chunk(rates, k.SeriesLength()) {
		samples, err := k.Samples(0)
		if err != nil {
			t.Fatal(err)
		}
		fillSamples(samples, c, noise, number, k.SeriesLength(), withoutContexts)
		if err := k.Start(0, number, part); err != nil {
			t.Fatal(err)
		}
		losses, _, err := k.Wait(0)
		if err != nil {
			t.Fatal(err)
		}
		loss, number = losses[len(losses)-1], number+len(part)
	}
	got := map[string][]float32{}
	for name, values := range state {
		got[name] = make([]float32, len(values))
		if err := k.Receive(name, got[name]); err != nil {
			t.Fatal(err)
		}
	}
	return got, loss
}

// fillSamples makes the samples of a series from an iteration on, which follow from the options. Some rows have no
// contexts, if wanted.
func fillSamples(samples []uint32, c Options, noise *corpus.Alias, first, series int, withoutContexts bool) {
	random := rand.New(rand.NewPCG(c.Seed, uint64(first)))
	s := c.shares()
	slots := int(s.Slots[c.Rows])
	for step := range 2 {
		for j := range series {
			to := samples[(step*series+j)*slots:][:slots]
			for i, length := range s.Lengths {
				until := func(j int) int { return (j*int(length) + int(s.Phases[i])) / s.Contexts }
				of := to[s.Slots[i]:s.Slots[i+1]]
				for n := range of {
					if of[n] = noSample; n < until(first+j+1)-until(first+j) {
						of[n] = noise.Draw(random.Uint32())
					}
				}
				if withoutContexts && i%50 == 7 && of[0] != noSample {
					of[0] = math.MaxUint32
				}
			}
		}
	}
}

// A device that waits in vain for another one gives up, and says so.
func TestGroupGivesUp(t *testing.T) {
	for _, half := range []bool{false, true} {
		c, _ := randomCase(20_000, 50, 5, "adam")
		c.HalfPrecision = half
		testGivesUp(t, c)
	}
}

func testGivesUp(t *testing.T, c Options) {
	g, err := NewGroup(cudatest.OpenGroup(t, 2, false), c)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if _, err := g.Samples(0); err != nil {
		t.Fatal(err)
	}
	for _, k := range g.parts {
		k.exchange.patience = 100 * time.Millisecond
	}
	alone, start := g.parts[0], time.Now()
	if err := alone.Start(0, 0, []float64{.1, .1}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := alone.Wait(0); err == nil || !strings.Contains(err.Error(), "did not answer") {
		t.Errorf("error %v", err)
	}
	if waited := time.Since(start); waited > 10*time.Second {
		t.Errorf("it gave up after %v", waited)
	}
	// The others know, too.
	if err := g.parts[1].Start(0, 0, []float64{.1}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := g.parts[1].Wait(0); err == nil {
		t.Error("the other device trained on")
	}
}

func TestGroupErrors(t *testing.T) {
	c, _ := randomCase(10, 10, 2, "adam")
	for count, want := range map[int]string{1: "2, 4 or 8", 3: "2, 4 or 8"} {
		if _, err := NewGroup(cudatest.OpenGroup(t, count, false), c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d devices: error %v", count, err)
		}
	}
}

// One step of the two on 1, 2, 4 and 8 GPUs, as many as there are, by turns: the median µs, and how often faster than
// on one GPU.
func BenchmarkGroup(b *testing.B) {
	all, _, err := cuda.List()
	if errors.Is(err, cuda.ErrNoDevice) {
		b.Skip(err)
	}
	for _, x := range []struct {
		rows, dim int
		method    string
		form      string
	}{
		{18_116, 500, "adam", "plain"}, {18_116, 1000, "adam", "plain"}, {67_869, 128, "adam", "plain"}, {1_000_000, 300, "adam", "plain"}, {18_116, 100, "adam", "plain"}, {18_116, 300, "adam", "plain"}, {18_116, 500, "sgd", "plain"}, {18_116, 500, "adam-row", "plain"},
		{18_116, 100, "adam", "step"}, {18_116, 300, "adam", "step"}, {18_116, 500, "adam", "step"}, {18_116, 1000, "adam", "step"}, {67_869, 128, "adam", "step"},
		{18_116, 500, "adam", "half"}, {67_869, 128, "adam", "half"},
		{18_116, 100, "adam", "tempered"}, {18_116, 300, "adam", "tempered"}, {18_116, 500, "adam", "tempered"}, {67_869, 128, "adam", "tempered"}, {1_000_000, 300, "adam", "tempered"},
		{18_116, 500, "adam", "temperedHalf"}, {67_869, 128, "adam", "temperedHalf"},
	} {
		b.Run(fmt.Sprintf("V=%d/N=%d/%s/%s", x.rows, x.dim, x.method, x.form), func(b *testing.B) {
			c, noise := randomCase(x.rows, x.dim, 5, x.method)
			c.HalfPrecision = x.form == "half" || x.form == "temperedHalf"
			if x.form == "step" { // the same samples and negatives by the kernels of step.cuh
				c.Shares = c.shares()
			}
			if strings.HasPrefix(x.form, "tempered") { // the default recipe at 17 million words
				positives := map[int]float64{100: 9.2, 300: 5.2, 500: 5, 128: 2.7}[x.dim]
				if x.rows == 1_000_000 {
					positives = .25
				}
				c.Negatives, c.Shares = 8, zipfShares(x.rows, 1, positives, 256)
				share(&c, noise, 64)
			}
			state := map[string][]float32{}
			random := rand.New(rand.NewPCG(1, 2))
			for _, name := range []string{"words", "contexts"} {
				state[name] = make([]float32, x.rows*x.dim)
				for i := range state[name] {
					state[name][i] = (random.Float32() - .5) / 16
				}
			}
			var groups [][]*Kernels
			for count := 1; count <= len(all); count *= 2 {
				devices := cudatest.OpenGroup(b, count, false)
				k := newTrained(b, devices, c)
				for name, values := range state {
					if err := k.Send(name, values); err != nil {
						b.Fatal(err)
					}
				}
				samples, err := k.Samples(0)
				if err != nil {
					b.Fatal(err)
				}
				fillSamples(samples, c, noise, 0, k.SeriesLength(), false)
				if err := k.Start(0, 0, slices.Repeat([]float64{1e-4}, k.SeriesLength())); err != nil { // also records the graph
					b.Fatal(err)
				}
				if _, _, err := k.Wait(0); err != nil {
					b.Fatal(err)
				}
				switch k := k.(type) {
				case *Kernels:
					groups = append(groups, []*Kernels{k})
				case *Group:
					groups = append(groups, k.parts)
				}
			}
			seconds := make([][]float64, len(groups))
			for b.Loop() {
				for i, parts := range groups {
					seconds[i] = append(seconds[i], secondsOfStep(b, parts))
				}
			}
			var one float64
			for i, all := range seconds {
				slices.Sort(all)
				median := all[len(all)/2]
				if i == 0 {
					one = median
				}
				b.Logf("%d GPUs, %d warps: %.1f µs a step (%.1f to %.1f), %.2f times one GPU", len(groups[i]), groups[i][0].shape.warps, median*1e6, all[0]*1e6, all[len(all)-1]*1e6, one/median)
			}
		})
	}
}

// secondsOfStep trains some recorded series, all with the same samples.
func secondsOfStep(b testing.TB, parts []*Kernels) float64 {
	const series = 8
	var working sync.WaitGroup
	start := time.Now()
	for _, k := range parts {
		working.Go(func() {
			err := k.device.Do(func() error {
				for range series {
					if err := k.exchange.begin(k.device, &k.buffers[0]); err != nil {
						return err
					}
					if k.lists != nil {
						if err := k.lists.find(k.device, 0, k.series); err != nil {
							return err
						}
					}
					if err := k.launch(2 * k.series); err != nil {
						return err
					}
					if err := k.device.Stream().Synchronize(); err != nil { // the tag's memory is used again
						return err
					}
				}
				return nil
			})
			if err != nil {
				b.Error(err)
			}
		})
	}
	working.Wait()
	return time.Since(start).Seconds() / float64(2*parts[0].series*series)
}
