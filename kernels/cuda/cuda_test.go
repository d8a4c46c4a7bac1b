//go:build gpu

package cuda

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/corpus/corpustest"
	"github.com/w2vcl/w2vcl/graph"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/sequential"
	"github.com/w2vcl/w2vcl/wordcontext"
	"gorgonia.org/cu"
)

// open takes the first GPU, or skips the test.
func open(t testing.TB) *Device {
	t.Helper()
	d, err := Open(0)
	if errors.Is(err, ErrNoDevice) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// zipf is a text of sentences of which word n comes with a probability of about
// 1/n.
func zipf(seed uint64, words, vocabulary int) string {
	return corpustest.Zipf(seed, words, vocabulary, 40)
}

func read(t testing.TB, text string) (*corpus.Corpus, *corpus.Alias) {
	t.Helper()
	return corpustest.Read(t, text)
}

// near fails unless got is want but for rounding, by the norm of the difference.
func near(t *testing.T, what string, got, want []float32) {
	t.Helper()
	nearWithin(t, what, got, want, 1e-4)
}

func nearWithin(t *testing.T, what string, got, want []float32, tolerance float64) {
	t.Helper()
	var difference, norm float64
	for i, w := range want {
		d := float64(got[i]) - float64(w)
		difference, norm = difference+d*d, norm+float64(w)*float64(w)
	}
	relative := math.Sqrt(difference / norm)
	t.Logf("%s: relative difference %.1e", what, relative)
	if !(relative <= tolerance) || norm == 0 {
		t.Errorf("%s: relative difference %v of a table of norm %v, want at most %v", what, relative, math.Sqrt(norm), tolerance)
	}
}

var dims = []int{1, 50, 100, 128, 300, 500, 1000}

// Fresh inputs each time: the seed is in the log.
func freshSeed(t *testing.T) uint64 {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	return seed
}

// Random words and alias draws are those of the CPU.
func TestRandom(t *testing.T) {
	d := open(t)
	seed := freshSeed(t)
	_, noise := read(t, zipf(1, 5000, 300))
	for _, first := range []uint64{0, 3, 1<<34 - 5, 1<<58 + 1} {
		const count = 1000
		stream := corpus.StreamNegatives.Sub(0xFEDCBA98)
		words, drawn := make([]uint32, count), make([]uint32, count)
		err := d.do(func() error {
			f, err := d.function("random", "random_words")
			if err != nil {
				return err
			}
			w, err := place(d, "words", words)
			if err != nil {
				return err
			}
			n, err := place(d, "drawn", drawn)
			if err != nil {
				return err
			}
			alias, err := place(d, "alias", noise.Table())
			if err != nil {
				return err
			}
			args, err := place(d, "arguments", []uint64{
				seed, first, uint64(stream)>>32 | uint64(stream)<<32, count | uint64(noise.Len())<<32,
				uint64(alias), uint64(w), uint64(n),
			})
			if err != nil {
				return err
			}
			if err := d.launch(f, (count+127)/128, 128, 0, uint64(args)); err != nil {
				return err
			}
			if err := d.stream.Synchronize(); err != nil {
				return err
			}
			return errors.Join(receive(words, w), receive(drawn, n))
		})
		if err != nil {
			t.Fatal(err)
		}
		for i := range words {
			at := first + uint64(i)
			if want := corpus.Philox(seed, stream, at/4)[at%4]; words[i] != want || drawn[i] != noise.Draw(want) {
				t.Fatalf("word %d is %#x and draws %d, want %#x and %d", at, words[i], drawn[i], want, noise.Draw(want))
			}
		}
	}
}

func TestOpenErrors(t *testing.T) {
	open(t)
	for _, ordinal := range []int{-1, 1000} {
		if _, err := Open(ordinal); err == nil || !strings.Contains(err.Error(), "counted from 0") {
			t.Errorf("device %d: error %v", ordinal, err)
		}
	}
}

func TestOutOfMemory(t *testing.T) {
	d := open(t)
	err := d.do(func() error { _, err := d.allocate("too much", 1<<50); return err })
	if err == nil || !strings.Contains(err.Error(), "are free") {
		t.Errorf("error %v", err)
	}
}

// clCase is W2V-CL on the CPU and the same on the device.
func clCase(t testing.TB, d *Device, text string, dim, negatives int, seed uint64, o optim.Config) (*graph.CL, *CL, *wordcontext.Matrix) {
	t.Helper()
	return clCaseWith(t, d, text, dim, negatives, seed, o, false)
}

// clCaseHalf is W2V-CL on the device with half precision, and the tables it starts
// from: W and C.
func clCaseHalf(t testing.TB, d *Device, text string, dim, negatives int, seed uint64, o optim.Config) ([2][]float32, *CL, *wordcontext.Matrix) {
	t.Helper()
	reference, cl, m := clCaseWith(t, d, text, dim, negatives, seed, o, true)
	words, contexts := reference.Tables()
	return [2][]float32{words, contexts}, cl, m
}

func clCaseWith(t testing.TB, d *Device, text string, dim, negatives int, seed uint64, o optim.Config, half bool) (*graph.CL, *CL, *wordcontext.Matrix) {
	t.Helper()
	c, noise := read(t, text)
	m, err := wordcontext.Build(context.Background(), c, wordcontext.Options{Window: 2, Contexts: 40, Passes: 1, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	reference, err := graph.NewCL(m, noise, 1000, graph.Config{Dim: dim, Negatives: negatives, Seed: seed, Optimizer: o})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { reference.Close() })
	cl, err := d.NewCL(CLConfig{
		Rows: m.Rows(), Dim: dim, Negatives: negatives, Seed: seed, Alias: noise.Table(),
		Method: string(o.Method), Beta1: 0.9, Beta2: 0.999, Epsilon: o.Epsilon, WeightDecay: o.WeightDecay, HalfPrecision: half,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cl.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := cl.SetTables(reference.Tables()); err != nil {
		t.Fatal(err)
	}
	return reference, cl, m
}

// iterations are those that graph.CL runs.
func iterations(m *wordcontext.Matrix, count int, rate float64) (all []CLIteration) {
	l := m.Contexts()
	for n := range count {
		it := CLIteration{Number: n, Rate: rate}
		for side := range 2 {
			it.Columns[side] = make([]uint32, m.Rows())
			m.Block((n+side*l/2)%l, 1, 0, m.Rows(), it.Columns[side])
		}
		all = append(all, it)
	}
	return all
}

// With epsilon 1e-8, the default, Adam makes a step of about the learning rate of
// any gradient, a rounding error's too: after 100 iterations the CPU's plain Go
// and its AVX-512 kernels differ by 2e-5 to 3e-3 themselves. A larger one keeps
// steps in proportion to gradients near zero, and so shows what the kernels do.
const smooth = 1e-3

// loneWord is a sentence of a word that has no contexts.
const loneWord = "alone\n"

// A hundred iterations end in the tables of the Gorgonia graph.
func TestCL(t *testing.T) {
	d := open(t)
	type test struct {
		dim, negatives int
		method         optim.Method
	}
	var tests []test
	for _, dim := range append(dims, 200, 700) {
		tests = append(tests, test{dim, 5, optim.Adam})
	}
	for _, k := range []int{1, 2, 7, 8, 31, 40} {
		tests = append(tests, test{20, k, optim.Adam}, test{600, k, optim.Adam})
	}
	for _, method := range []optim.Method{optim.AdamRow, optim.SGD} {
		tests = append(tests, test{3, 5, method}, test{500, 5, method}, test{1024, 5, method})
	}
	for _, x := range tests {
		t.Run(fmt.Sprintf("%s/N=%d/K=%d", x.method, x.dim, x.negatives), func(t *testing.T) {
			const count = 100 // two graphs of 32 and a rest
			seed := freshSeed(t)
			reference, cl, m := clCase(t, d, loneWord+zipf(seed, 20_000, 700), x.dim, x.negatives, seed, optim.Config{Method: x.method, WeightDecay: .1, Epsilon: smooth})
			losses, err := cl.Train(iterations(m, count, 1e-3))
			if err != nil {
				t.Fatal(err)
			}
			for n := range count {
				report, err := reference.Advance(context.Background(), n, 1e-3)
				if err != nil {
					t.Fatal(err)
				}
				if math.Abs(losses[n]-report.Loss) > 1e-4*report.Loss {
					t.Fatalf("iteration %d: loss %v, want %v", n, losses[n], report.Loss)
				}
			}
			words, contexts := reference.Tables()
			gotWords, gotContexts := make([]float32, len(words)), make([]float32, len(words))
			if err := cl.Tables(gotWords, gotContexts); err != nil {
				t.Fatal(err)
			}
			near(t, "words", gotWords, words)
			near(t, "contexts", gotContexts, contexts)
		})
	}
}

// Two runs give the same bits, losses too.
func TestCLRepeats(t *testing.T) {
	d := open(t)
	var first []float32
	var losses []float64
	for run := range 2 {
		reference, cl, m := clCase(t, d, zipf(5, 20_000, 700), 100, 5, 9, optim.Config{Method: optim.Adam, Epsilon: smooth})
		all := iterations(m, 80, 1e-2)
		var got []float64
		for _, part := range [][]CLIteration{all[:33+17*run], all[33+17*run : 50]} { // graphs and single launches fall elsewhere
			l, err := cl.Train(part)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, l...)
		}
		words, contexts := reference.Tables()
		words, contexts = slices.Clone(words), slices.Clone(contexts)
		if err := cl.Tables(words, contexts); err != nil {
			t.Fatal(err)
		}
		if run == 0 {
			first, losses = append(words, contexts...), got
		} else if !slices.Equal(first, append(words, contexts...)) || !slices.Equal(losses, got) {
			t.Error("two runs differ")
		}
	}
}

// The PTX, which other GPUs run, does the same as the machine code.
func TestPTX(t *testing.T) {
	var tables [2][]float32
	for i, portable := range []bool{false, true} {
		d := open(t)
		d.portable = portable
		for _, dim := range []int{60, 300, 500} { // those of a warp, of more than its registers hold, of a team
			c := sequential.Config{Dim: dim, Window: 5, Negatives: 5, Epochs: 1, Seed: 4}
			_, f := fullW2VCase(t, d, zipf(6, 3000, 300), c, 1, choice{})
			trainAll(t, f, testRate)
			values := f.config.Vocabulary * c.Dim
			words, contexts := make([]float32, values), make([]float32, values)
			if err := f.Tables(words, contexts); err != nil {
				t.Fatal(err)
			}
			tables[i] = append(append(tables[i], words...), contexts...)
		}
	}
	near(t, "tables", tables[1], tables[0])
}

func TestConfigErrors(t *testing.T) {
	d := open(t)
	parsed, noise := read(t, zipf(1, 200, 20))
	c := sequential.Config{Dim: 1025, Window: 5, Negatives: 5, Epochs: 1}
	if _, err := d.NewFullW2V(fullConfig(parsed, noise, c, 1)); err == nil || !strings.Contains(err.Error(), "at most 1024") {
		t.Errorf("dimension 1025: error %v", err)
	}
	c.Dim, c.Negatives = 10, 16
	if _, err := d.NewFullW2V(fullConfig(parsed, noise, c, 1)); err == nil || !strings.Contains(err.Error(), "at most 15") {
		t.Errorf("16 negatives: error %v", err)
	}
	if _, err := d.NewCL(CLConfig{Rows: 2, Dim: 2, Negatives: 1, Alias: make([]uint32, 4), Method: "adagrad"}); err == nil {
		t.Error("optimizer adagrad: no error")
	}
}

// One step of the two, and its share of the copy bandwidth of the device.
func BenchmarkCL(b *testing.B) {
	type test struct {
		rows, dim, negatives int
		method               string
		half                 bool
	}
	var tests []test
	for _, half := range []bool{false, true} {
		tests = append(tests,
			test{18_116, 500, 5, "adam", half}, test{67_869, 128, 5, "adam", half}, test{18_116, 128, 5, "adam", half}, test{18_116, 500, 5, "adam-row", half},
			test{18_116, 500, 5, "sgd", half}, test{18_116, 300, 5, "adam", half}, test{18_116, 1000, 5, "adam", half}, test{18_116, 500, 10, "adam", half})
	}
	for _, x := range tests {
		b.Run(fmt.Sprintf("V=%d/N=%d/K=%d/%s/half=%v", x.rows, x.dim, x.negatives, x.method, x.half), func(b *testing.B) {
			d := open(b)
			copies := copyBandwidth(b, d)
			weights := make([]float64, x.rows)
			for i := range weights {
				weights[i] = math.Pow(float64(i+1), -.75)
			}
			noise, err := corpus.NewAlias(weights)
			if err != nil {
				b.Fatal(err)
			}
			cl, err := d.NewCL(CLConfig{Rows: x.rows, Dim: x.dim, Negatives: x.negatives, Seed: 1, Alias: noise.Table(), Method: x.method, Beta1: .9, Beta2: .999, Epsilon: 1e-8, HalfPrecision: x.half})
			if err != nil {
				b.Fatal(err)
			}
			defer cl.Close()
			words, contexts := make([]float32, x.rows*x.dim), make([]float32, x.rows*x.dim)
			for i := range words {
				words[i], contexts[i] = (rand.Float32()-.5)/16, (rand.Float32()-.5)/16
			}
			if err := cl.SetTables(words, contexts); err != nil {
				b.Fatal(err)
			}
			all := make([]CLIteration, clBlock/2)
			for i := range all {
				all[i] = CLIteration{Number: i, Rate: 1e-3}
				for side := range 2 {
					for range x.rows {
						all[i].Columns[side] = append(all[i].Columns[side], noise.Draw(rand.Uint32()))
					}
				}
			}
			if _, err := cl.Train(all); err != nil { // also records the graph
				b.Fatal(err)
			}
			var seconds []float64
			for b.Loop() {
				seconds = append(seconds, d.time(b, func() error { return cl.graph.launch(d.stream) })/clBlock)
			}
			slices.Sort(seconds)
			median := seconds[len(seconds)/2]
			passes := map[string]float64{"adam": 6, "adam-row": 4, "sgd": 2}[x.method]
			b.ReportMetric(median*1e6, "µs/step")
			b.ReportMetric(100*passes*float64(x.rows*x.dim*4)/median/copies, "%ofcopy")
			b.ReportMetric(copies/1e12, "copyTB/s")
		})
	}
}

// time returns the seconds the device takes for what f launches.
func (d *Device) time(b *testing.B, f func() error) (seconds float64) {
	err := d.do(func() error {
		start, err := cu.MakeEvent(0)
		if err != nil {
			return err
		}
		end, err := cu.MakeEvent(0)
		if err != nil {
			return err
		}
		if err := errors.Join(start.Record(d.stream), f(), end.Record(d.stream), end.Synchronize()); err != nil {
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

// copyBandwidth is bytes read and written in a second by a large copy.
func copyBandwidth(b *testing.B, d *Device) float64 {
	const bytes = 2 << 30
	var from, to cu.DevicePtr
	err := d.do(func() (err error) {
		if from, err = d.allocate("copy", bytes); err != nil {
			return err
		}
		to, err = d.allocate("copy", bytes)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	best := math.Inf(1)
	for range 10 {
		best = min(best, d.time(b, func() error { return cu.MemcpyDtoDAsync(to, from, bytes, d.stream) }))
	}
	return 2 * bytes / best
}
