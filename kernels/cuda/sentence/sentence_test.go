//go:build gpu

package sentence

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/corpus/corpustest"
	"github.com/w2vcl/w2vcl/kernels/cuda"
	"github.com/w2vcl/w2vcl/kernels/cuda/cudatest"
	"github.com/w2vcl/w2vcl/sequential"
)

// A choice is one among the kernels.
type choice struct {
	half bool // C in float16
	both bool // and W
}

// modes are the kernels of package sequential's algorithms.
var modes = []struct {
	mode Mode
	sequential.Options
}{
	{FullW2V, sequential.Options{Algorithm: sequential.FullW2V}},
	{FullW2VPairs, sequential.Options{Algorithm: sequential.FullW2V, PairByPair: true}},
	{FullRegister, sequential.Options{Algorithm: sequential.FullRegister}},
	{PWord2Vec, sequential.Options{Algorithm: sequential.PWord2Vec}},
	{Word2Vec, sequential.Options{Algorithm: sequential.Word2Vec, Model: sequential.SkipGram}},
	{CBOW, sequential.Options{Algorithm: sequential.Word2Vec, Model: sequential.CBOW}},
	{PARW2V, sequential.Options{Algorithm: sequential.PARW2V}},
}

func modeOf(c sequential.Options) Mode {
	for _, m := range modes {
		if m.Algorithm == c.Algorithm && m.Model == c.Model && m.PairByPair == c.PairByPair {
			return m.mode
		}
	}
	return ""
}

// newCase is a mode on one thread of the CPU and the same on the device.
func newCase(t testing.TB, d *cuda.Device, text string, c sequential.Options, inFlight int, kernel choice) (*sequential.Trainer, *Kernels) {
	t.Helper()
	parsed, noise := corpustest.Read(t, text)
	if c.Algorithm == "" {
		c.Algorithm = sequential.FullW2V
	}
	c.Threads = 1
	reference, err := sequential.New(parsed, noise, c)
	if err != nil {
		t.Fatal(err)
	}
	options := optionsOf(parsed, noise, c, inFlight)
	options.HalfPrecision, options.HalfWords = kernel.half || kernel.both, kernel.both
	f := newKernelsOf(t, d, options)
	words, contexts := reference.Tables()
	// W as it is after some training: zeros in C would hide errors.
	r := rand.New(rand.NewPCG(c.Seed, 2))
	for i := range words {
		words[i], contexts[i] = (r.Float32()-.5)/float32(math.Sqrt(float64(c.Dim))), (r.Float32()-.5)/float32(math.Sqrt(float64(c.Dim)))
	}
	if err := f.SetTables(words, contexts); err != nil {
		t.Fatal(err)
	}
	if c.Seed%2 == 0 {
		f.leastShare = 0 // the bounded form, which adds all here, too
	}
	return reference, f
}

func optionsOf(text *corpus.Corpus, noise *corpus.Alias, c sequential.Options, inFlight int) Options {
	mode, radius := modeOf(c), c.Window
	if !mode.Dynamic() {
		radius = sequential.Radius(c.Window)
	}
	return Options{
		Mode: mode, Batch: 24, Vocabulary: text.Vocabulary.Len(), Dim: c.Dim, Negatives: c.Negatives, Radius: radius, Seed: c.Seed,
		Alias: noise.Table(), Counts: text.Vocabulary.Counts, Keep: corpus.KeepThresholds(text.Vocabulary.Counts, c.Sample),
		Tokens: text.Tokens, Sentences: text.Sentences, Units: units(len(text.Sentences) - 1), Epochs: c.Epochs, InFlight: inFlight,
	}
}

func newKernelsOf(t testing.TB, d *cuda.Device, c Options) *Kernels {
	t.Helper()
	f, err := New(d, c)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

const testRate = 0.025

// units cuts sentences into three units.
func units(sentences int) []int { return []int{0, sentences / 4, sentences / 2, sentences} }

// trainAll trains all epochs.
func trainAll(t testing.TB, f *Kernels, rate float32) (losses, pairs []float64) {
	t.Helper()
	losses, pairs, err := f.Train(0, slices.Repeat([]float32{rate}, f.units()))
	if err != nil {
		t.Fatal(err)
	}
	return losses, pairs
}

func total(x []float64) (sum float64) {
	for _, v := range x {
		sum += v
	}
	return sum
}

// The structure has the same size as that of the kernels.
func TestStructureSize(t *testing.T) {
	if size := unsafe.Sizeof(launchArgs{}); size != 208 {
		t.Errorf("PieceArgs has %d bytes, the kernels' 208", size)
	}
}

// Every shape has a kernel, whose warps have all of a row.
func TestEveryShapeHasAKernel(t *testing.T) {
	if !cuda.HasKernels() {
		t.Skip(cuda.ErrNoKernels)
	}
	there := map[string]bool{}
	sources := map[string]bool{"fullw2v_half": true, "fullw2v_halves": true}
	for _, f := range families {
		sources[f.source], sources[f.source+"_pieces"] = true, true
	}
	for name := range sources {
		source, err := cuda.Image("sentence/" + name + ".ptx.gz")
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range strings.Split(string(source), ".entry ")[1:] {
			there[name+" "+entry[:strings.IndexByte(entry, '(')]] = true
		}
	}
	var dims []int // the first and the last that has so many chunks
	for first := 0; first < cuda.MaxDim; first += chunkValues {
		dims = append(dims, first+1, first+chunkValues)
	}
	for _, m := range modes {
		for halves := range 3 { // tables in float16
			most := LimitsOf(m.mode, halves > 0)
			if halves > 1 && !m.mode.HalvesWords() {
				continue
			}
			for _, dim := range dims {
				for negatives := 1; negatives <= most.Negatives; negatives++ {
					for radius := 1; radius <= most.Radius; radius++ {
						c := Options{Mode: m.mode, Dim: dim, Negatives: negatives, Radius: radius, Batch: 24, HalfPrecision: halves > 0, HalfWords: halves > 1}
						k, err := c.kernel()
						if err != nil {
							t.Fatal(err)
						}
						if !there[k.source+" "+k.name] || k.forms && !there[k.source+" "+k.name+"_bounded"] {
							t.Fatalf("%s N=%d K=%d radius %d: there is no %s, or no bounded form", m.mode, dim, negatives, radius, k.name)
						}
						var f, e, outputs, together int
						shape := strings.NewReplacer(k.source+"_", "", "half_", "", "pairs_", "", "team_", "").Replace(k.name)
						switch n, _ := fmt.Sscanf(shape, "%d_%d_%d_%d", &f, &e, &outputs, &together); {
						case n == 2: // fullw2v_half: F and groups of slots
							if 128*f < dim || 8*e < slots(radius) {
								t.Fatalf("%s N=%d radius %d: %s is too small", m.mode, dim, radius, k.name)
							}
						case k.threads/32*(128*f+32*e) < dim || outputs < 1+negatives && m.mode != PARW2V:
							t.Fatalf("%s N=%d K=%d radius %d: %s with %d threads is too small", m.mode, dim, negatives, radius, k.name, k.threads)
						}
					}
				}
			}
		}
	}
}

// With one sentence in flight, the tables equal those of the CPU.
func TestFullW2V(t *testing.T) {
	d := cudatest.Open(t)
	var tests []sequential.Options
	for _, dim := range cudatest.Dims() {
		tests = append(tests, sequential.Options{Dim: dim, Window: 5, Negatives: 5})
	}
	for _, dim := range []int{129, 200, 384, 640} {
		tests = append(tests, sequential.Options{Dim: dim, Window: 5, Negatives: 5})
	}
	for _, k := range []int{1, 3, 7, 10, 15} {
		for _, dim := range []int{20, 300, 384} {
			tests = append(tests, sequential.Options{Dim: dim, Window: 5, Negatives: k})
		}
	}
	for _, w := range []int{1, 2, 3, 10, 30} {
		for _, dim := range []int{128, 200, 300, 384, 500} {
			tests = append(tests, sequential.Options{Dim: dim, Window: w, Negatives: 5})
		}
	}
	for _, c := range tests {
		few := 5 // so that windows hold words several times
		if c.Window > 10 {
			few = 40 // of five words each would be there a dozen times, and rounding grow with their steps
		}
		for _, vocabulary := range []int{few, 400} {
			t.Run(fmt.Sprintf("N=%d/W=%d/K=%d/V=%d", c.Dim, c.Window, c.Negatives, vocabulary), func(t *testing.T) {
				c.Seed, c.Epochs, c.Sample = cudatest.FreshSeed(t), 2, 1e-2
				if vocabulary < 10 {
					c.Sample = 0 // there would be nothing left
				}
				reference, f := newCase(t, d, corpustest.Zipf(c.Seed, 1500, vocabulary, 40), c, 1, choice{})
				same(t, reference, f, 1e-4)
			})
		}
	}
}

// same trains all epochs on both and compares.
func same(t *testing.T, reference *sequential.Trainer, f *Kernels, tolerance float64) {
	t.Helper()
	losses, counts := trainAll(t, f, testRate)
	loss, pairs := total(losses), total(counts)
	var wantLoss, wantPairs float64
	for unit := range reference.Units() {
		report, err := reference.Advance(t.Context(), unit, testRate)
		if err != nil {
			t.Fatal(err)
		}
		wantLoss, wantPairs = wantLoss+report.Loss, wantPairs+report.Pairs
	}
	if !(math.Abs(loss-wantLoss) <= tolerance*wantLoss) || pairs != wantPairs {
		t.Errorf("loss %v of %v pairs, want %v of %v", loss, pairs, wantLoss, wantPairs)
	}
	words, contexts := reference.Tables()
	gotWords, gotContexts := make([]float32, len(words)), make([]float32, len(words))
	if err := f.Tables(gotWords, gotContexts); err != nil {
		t.Fatal(err)
	}
	cudatest.Near(t, "words", gotWords, words, tolerance)
	cudatest.Near(t, "contexts", gotContexts, contexts, tolerance)
}

func TestConfigErrors(t *testing.T) {
	d := cudatest.Open(t)
	parsed, noise := corpustest.Read(t, corpustest.Zipf(1, 200, 20, 40))
	c := sequential.Options{Algorithm: sequential.FullW2V, Dim: 1025, Window: 5, Negatives: 5, Epochs: 1}
	if _, err := New(d, optionsOf(parsed, noise, c, 1)); err == nil || !strings.Contains(err.Error(), "at most 1024") {
		t.Errorf("dimension 1025: error %v", err)
	}
	c.Dim, c.Negatives = 10, 16
	if _, err := New(d, optionsOf(parsed, noise, c, 1)); err == nil || !strings.Contains(err.Error(), "at most 15") {
		t.Errorf("16 negatives: error %v", err)
	}
}

// Tables come back as they were sent, in one part or in several.
func TestTables(t *testing.T) {
	d := cudatest.Open(t)
	for _, half := range []bool{false, true} {
		for _, size := range [][2]int{{50, 1}, {300, 33}, {15_000, 100}, {9000, 300}} {
			c := sequential.Options{Dim: size[1], Window: 5, Negatives: 5, Epochs: 1, Seed: cudatest.FreshSeed(t)}
			reference, f := newCase(t, d, corpustest.Zipf(c.Seed, 4*size[0], size[0], 40), c, 1, choice{half: half})
			words, contexts := reference.Tables()
			r := rand.New(rand.NewPCG(c.Seed, 1))
			for i := range words {
				words[i], contexts[i] = r.Float32(), r.Float32()
				if half {
					contexts[i] = float(uint16(r.IntN(0x7c00)))
				}
			}
			if err := f.SetTables(words, contexts); err != nil {
				t.Fatal(err)
			}
			gotWords, gotContexts := make([]float32, len(words)), make([]float32, len(words))
			if err := f.Tables(gotWords, gotContexts); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(gotWords, words) || !slices.Equal(gotContexts, contexts) {
				t.Errorf("half %v, %d rows of %d values: they do not come back", half, len(words)/size[1], size[1])
			}
		}
	}
}
