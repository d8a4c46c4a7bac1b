package bench

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/graph"
	"github.com/w2vcl/w2vcl/internal/team"
	"github.com/w2vcl/w2vcl/kernels/simd"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/train/device/devicetest"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// tiny measures as briefly as possible.
var tiny = Effort{Repeat: 2}

func TestStepBytes(t *testing.T) {
	for _, c := range []struct {
		words, dim, negatives int
		method                optim.Method
		want                  int64
	}{
		{18498, 500, 5, optim.Adam, 12 * 18498 * 500 * 4},
		{18498, 500, 5, optim.AdamRow, 10*18498*500*4 + 8*18498},
		{18498, 500, 5, optim.SGD, 8 * 18498 * 500 * 4},
		{200000, 500, 10, optim.Adam, 17 * 200000 * 500 * 4}, // more than 32 bits
		{3, 2, 1, optim.Adam, 8 * 3 * 2 * 4},
	} {
		got, err := StepBytes(c.words, c.dim, c.negatives, c.method)
		if err != nil || got != c.want {
			t.Errorf("%+v: %d bytes (%v)", c, got, err)
		}
	}
	if _, err := StepBytes(1, 1, 1, "unknown"); err == nil {
		t.Error("an unknown optimizer has bytes")
	}
}

func TestWorkingSet(t *testing.T) {
	const table = 1000 * 100 * 4
	for method, want := range map[optim.Method]int64{
		optim.Adam: 6 * table, optim.AdamRow: 4*table + 2*4*1000, optim.SGD: 2 * table,
	} {
		if got := WorkingSet(1000, 100, method); got != want {
			t.Errorf("%s: %d bytes, want %d", method, got, want)
		}
	}
}

func TestMeasured(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   Measurement
	}{
		{nil, Measurement{}},
		{[]float64{3}, Measurement{3, 3, 3, 1}},
		{[]float64{4, 1}, Measurement{2.5, 1, 4, 2}},
		{[]float64{9, 1, 2}, Measurement{2, 1, 9, 3}},
		{[]float64{4, 3, 2, 1}, Measurement{2.5, 1, 4, 4}},
	} {
		if got := Measured(slices.Clone(c.values)); got != c.want {
			t.Errorf("%v: %+v", c.values, got)
		}
	}
	if spread := (Measurement{Median: 2, Min: 1, Max: 4}).Spread(); spread != 1.5 {
		t.Errorf("spread %v", spread)
	}
}

func TestCopyBytes(t *testing.T) {
	for cache, want := range map[int64]int64{0: 512 << 20, 32 << 20: 512 << 20, 300 << 20: 1200 << 20} {
		if got := CopyBytes(cache); got != want {
			t.Errorf("cache %d: %d bytes", cache, got)
		}
	}
}

// TestCopierCopiesAll: every value arrives, whatever the threads and pieces.
func TestCopierCopiesAll(t *testing.T) {
	random := rand.New(rand.NewPCG(rand.Uint64(), 1))
	for _, n := range []int{1, 2, 63, 64, 65, 1000} {
		for _, threads := range []int{1, 2, 3, 7} {
			for _, piece := range []int{1, 5, 64, n} {
				c := NewCopier(int64(8*n), threads)
				if c.Bytes() != int64(8*n) {
					t.Fatalf("%d values: %d bytes", n, c.Bytes())
				}
				for i := range c.from {
					if c.from[i] != 1 {
						t.Fatalf("value %d of %d was not touched by %d threads", i, n, threads)
					}
					c.from[i] = random.Float32()
				}
				c.copy(threads, piece)
				if !slices.Equal(c.from, c.to) {
					t.Errorf("%d values, %d threads, pieces of %d: not all were copied", n, threads, piece)
				}
			}
		}
	}
	if speed := NewCopier(1<<20, 2).Measure(2, 0); speed <= 0 || math.IsInf(speed, 0) {
		t.Errorf("%v bytes a second", speed)
	}
}

// TestSyntheticCounts: counts fall, no word is too rare to fill its row, and
// uniform is uniform.
func TestSyntheticCounts(t *testing.T) {
	for _, words := range []int{2, 50, 18498, 200000} {
		zipf, err := syntheticCounts(words, Zipf)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.IsSortedFunc(zipf, func(a, b uint64) int { return int(b) - int(a) }) || zipf[words-1] < minCount {
			t.Errorf("%d words: counts from %d to %d", words, zipf[0], zipf[words-1])
		}
		if got, want := float64(zipf[0])/float64(zipf[1]), 2.0; math.Abs(got-want) > .05 {
			t.Errorf("%d words: the first is %.2f times as frequent as the second", words, got)
		}
		uniform, err := syntheticCounts(words, Uniform)
		if err != nil || slices.Min(uniform) != slices.Max(uniform) {
			t.Errorf("%d words: uniform counts differ (%v)", words, err)
		}
	}
	for _, c := range []struct {
		words int
		f     Frequencies
	}{{1, Zipf}, {-1, Uniform}, {10, "normal"}} {
		if _, err := syntheticCounts(c.words, c.f); err == nil {
			t.Errorf("%+v: no error", c)
		}
	}
}

// TestNewText: every row has contexts, most rows repeat them, and the same seed
// gives the same text.
func TestNewText(t *testing.T) {
	ctx := context.Background()
	for _, f := range []Frequencies{Zipf, Uniform} {
		text, err := NewText(ctx, 300, f, Samples{}, 7, 2)
		if err != nil {
			t.Fatal(err)
		}
		m, repeats := text.Matrix, 0
		for i := range m.Rows() {
			if m.RowTotal(i) == 0 {
				t.Errorf("%s: word %d has no contexts", f, i)
			}
			if m.RowTotal(i) < uint64(m.Contexts()) {
				repeats++
			}
		}
		if m.Rows() != 300 || text.Noise.Len() != 300 || 2*repeats < 300 {
			t.Errorf("%s: %d rows, %d weights, %d rows repeat", f, m.Rows(), text.Noise.Len(), repeats)
		}
		again, err := NewText(ctx, 300, f, Samples{}, 7, 1)
		if err != nil || again.Matrix.Fingerprint() != m.Fingerprint() {
			t.Errorf("%s: another text with the same seed (%v)", f, err)
		}
		other, err := NewText(ctx, 300, f, Samples{}, 8, 1)
		if err != nil || other.Matrix.Fingerprint() == m.Fingerprint() {
			t.Errorf("%s: the same text with another seed (%v)", f, err)
		}
	}
}

func TestMeasureStep(t *testing.T) {
	ctx := context.Background()
	text, err := NewText(ctx, 60, Zipf, Samples{}, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	copier := NewCopier(1<<16, 1)
	var results []StepResult
	for _, form := range []graph.Form{graph.FormStock, graph.FormFused} {
		for _, method := range []optim.Method{optim.Adam, optim.AdamRow, optim.SGD} {
			for threads := 1; threads <= 2; threads++ {
				c := StepCase{Vocabulary: 60, Dim: 16, Negatives: 5, Frequencies: Zipf, Optimizer: method, Form: form, Kernels: simd.Current(), Threads: threads}
				r, err := MeasureStep(ctx, c, text, copier, 1, tiny)
				if err != nil {
					t.Fatalf("%s: %v", c, err)
				}
				results = append(results, r)
				if r.Step.Runs != 2 || r.Copy.Runs != 3 || r.Step.Min <= 0 || r.Copy.Min <= 0 || r.Column.Min <= 0 {
					t.Errorf("%s: %+v", c, r)
				}
				// The tables begin with a loss of log 2 and stay there.
				if math.Abs(r.Loss-math.Ln2) > 1e-3 {
					t.Errorf("%s: loss %v", c, r.Loss)
				}
				if want := float64(r.Bytes) / (r.Step.Median + r.Column.Median); math.Abs(r.BytesPerSecond-want) > 1e-6*want {
					t.Errorf("%s: %v bytes a second, want %v", c, r.BytesPerSecond, want)
				}
				if want := r.BytesPerSecond / r.Copy.Median; math.Abs(r.OfCopy-want) > 1e-6*want {
					t.Errorf("%s: %v of copying, want %v", c, r.OfCopy, want)
				}
			}
		}
	}
	Relate(results, 1<<20)
	for _, r := range results {
		if (r.SpeedUp > 0) != (r.Threads == 2) || (r.OverStock > 0) != (r.Form == graph.FormFused) || !r.FitsCache || r.OfCache <= 0 {
			t.Errorf("%s: %+v", r.StepCase, r)
		}
	}
	if _, err := json.Marshal(results); err != nil { // NaN and infinity would not do
		t.Error(err)
	}
}

func TestRelate(t *testing.T) {
	results := []StepResult{
		{StepCase: StepCase{Form: graph.FormFused, Threads: 1}, Seconds: 2, WorkingSet: 100},
		{StepCase: StepCase{Form: graph.FormFused, Threads: 4}, Seconds: .5, WorkingSet: 100},
		{StepCase: StepCase{Form: graph.FormStock, Threads: 1}, Seconds: 20, WorkingSet: 10},
		{StepCase: StepCase{Form: graph.FormFused, Threads: 1, Dim: 3}, Seconds: 1},
	}
	Relate(results, 50)
	for i, want := range []struct {
		speedUp, overStock, ofCache float64
		fits                        bool
	}{{0, 10, 2, false}, {4, 0, 2, false}, {0, 0, .2, true}, {0, 0, 0, true}} {
		r := results[i]
		if r.SpeedUp != want.speedUp || r.OverStock != want.overStock || r.OfCache != want.ofCache || r.FitsCache != want.fits {
			t.Errorf("result %d: %+v, want %+v", i, r, want)
		}
	}
	unknown := []StepResult{{}}
	if Relate(unknown, 0); unknown[0].FitsCache || unknown[0].OfCache != 0 {
		t.Errorf("with an unknown cache: %+v", unknown[0])
	}
}

func TestMeasureStepErrors(t *testing.T) {
	text, err := NewText(context.Background(), 20, Uniform, Samples{}, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	copier := NewCopier(1<<10, 1)
	good := StepCase{Vocabulary: 20, Dim: 4, Negatives: 2, Optimizer: optim.SGD, Form: graph.FormFused, Threads: 1}
	for name, change := range map[string]func(*StepCase){
		"words":     func(c *StepCase) { c.Vocabulary = 21 },
		"dim":       func(c *StepCase) { c.Dim = 0 },
		"negatives": func(c *StepCase) { c.Negatives = 0 },
		"optimizer": func(c *StepCase) { c.Optimizer = "unknown" },
		"form":      func(c *StepCase) { c.Form = "loose" },
		"threads":   func(c *StepCase) { c.Threads = -1 },
	} {
		c := good
		change(&c)
		if _, err := MeasureStep(context.Background(), c, text, copier, 1, tiny); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := MeasureStep(ctx, good, text, copier, 1, tiny); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestReadColumns: the samples that are timed are those of M.
func TestReadColumns(t *testing.T) {
	for _, s := range []Samples{{}, {Tempering: 0.75, Positives: 3, MaxPositives: 20}} {
		text, err := NewText(context.Background(), 700, Zipf, s, 1, 2)
		if err != nil {
			t.Fatal(err)
		}
		m := text.Matrix
		const first, count = 96, 32
		slots := m.Slots()
		all := int(slots[m.Rows()])
		dst := make([]uint32, count*all)
		if err := readColumns(m, first, count, team.New(2), dst); err != nil {
			t.Fatal(err)
		}
		for j := range count {
			for i := range m.Rows() {
				from, samples := m.Share(i, first+j, 0)
				for k := range samples {
					if got, want := dst[j*all+int(slots[i])+k], m.At(i, (int(from)+k)%m.RowLength(i)); got != want {
						t.Fatalf("%v: sample %d of row %d in iteration %d is %d, want %d", s, k, i, first+j, got, want)
					}
				}
			}
		}
	}
}

func TestMeasureMatrix(t *testing.T) {
	text, err := syntheticCorpus(40, Zipf, 3)
	if err != nil {
		t.Fatal(err)
	}
	builds := 0
	o := wordcontext.Options{Window: 2, Contexts: 100, Passes: 2, Sample: 1e-2, Seed: 1, Threads: 2}
	r, err := MeasureMatrix(context.Background(), text, o, tiny, func(int) { builds++ })
	if err != nil {
		t.Fatal(err)
	}
	m, err := wordcontext.Build(context.Background(), text, o)
	if err != nil {
		t.Fatal(err)
	}
	var found uint64
	for i := range m.Rows() {
		found += m.RowTotal(i)
	}
	if r.Found != found || r.Stored != m.Stored() || r.Vocabulary != 40 || r.Contexts != 100 || r.Tokens != int64(len(text.Tokens)) || builds != 2 {
		t.Errorf("%+v after %d builds; want %d found, %d stored", r, builds, found, m.Stored())
	}
	// 100 columns are fewer than the larger number to read.
	if len(r.Read) != 2 || r.Read[0].Columns != 32 || r.Read[1].Columns != 100 || r.Read[1].Entry.Min <= 0 {
		t.Errorf("read: %+v", r.Read)
	}
	if _, err := MeasureMatrix(context.Background(), text, wordcontext.Options{}, tiny, nil); err == nil {
		t.Error("impossible options measured")
	}
}

func TestMeasureCorpus(t *testing.T) {
	text, err := syntheticCorpus(30, Zipf, 3)
	if err != nil {
		t.Fatal(err)
	}
	text.Stats = corpus.Stats{Files: 1, Bytes: 1000, Tokens: 200, TokensUsed: 150}
	reads, calls := 0, []int{}
	read := func(context.Context) (*corpus.Corpus, error) { reads++; return text, nil }
	r, err := MeasureCorpus(context.Background(), read, 1, 3, func(i int) { calls = append(calls, i) })
	if err != nil || reads != 4 || !slices.Equal(calls, []int{0, 1, 2, 3}) {
		t.Errorf("%d reads, calls %v, %v", reads, calls, err)
	}
	if r.Read.Runs != 3 || r.Bytes != 1000 || r.Tokens != 200 || r.TokensUsed != 150 || r.Vocabulary != 30 {
		t.Errorf("%+v", r)
	}
	failed := errors.New("no disk")
	_, err = MeasureCorpus(context.Background(), func(context.Context) (*corpus.Corpus, error) { return nil, failed }, 1, 3, nil)
	if !errors.Is(err, failed) {
		t.Errorf("%v", err)
	}
}

func TestMeasureDevice(t *testing.T) {
	text, err := NewText(t.Context(), 60, Zipf, Samples{}, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	d := devicetest.New()
	for method, passes := range map[optim.Method]int64{optim.Adam: 6, optim.SGD: 2} {
		c := DeviceCase{Device: d.Name(), Vocabulary: 60, Dim: 16, Negatives: 5, Frequencies: Zipf, Optimizer: method, Threads: 1}
		r, err := MeasureDevice(t.Context(), c, d, text, 1, tiny)
		if err != nil {
			t.Fatalf("%s: %v", c, err)
		}
		if r.Step.Runs != 2 || r.Copy.Runs != 3 || r.Step.Min <= 0 || r.Bytes != passes*4*60*16 || math.Abs(r.Loss-math.Ln2) > 1e-3 {
			t.Errorf("%s: %+v", c, r)
		}
		if want := float64(r.Bytes) / r.Step.Median / 4e12; math.Abs(r.OfCopy-want) > 1e-6*want {
			t.Errorf("%s: %v of copying, want %v", c, r.OfCopy, want)
		}
	}
	for _, kind := range []EncoderKind{CNNAlone, NGram} {
		c := DeviceCase{Vocabulary: 60, Dim: 4, Negatives: 5, Optimizer: optim.AdamRow, Threads: 1, Subword: kind}
		r, err := MeasureDevice(t.Context(), c, d, text, 1, tiny)
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		if e := r.Encoder; e == nil || e.Kind != kind || e.Step.Runs != 2 || math.Abs(e.Loss-math.Ln2) > 1e-1 ||
			math.Abs(2*r.Step.Median*e.Ratio-r.Step.Median-e.Step.Median) > 1e-6*math.Abs(e.Step.Median) { // a busy machine makes a difference of times negative
			t.Errorf("%s: %+v", kind, e)
		}
	}
	c := DeviceCase{Vocabulary: 60, Dim: 16, Negatives: 5, Optimizer: optim.Adam, Threads: 1}
	d.Free, d.Matrix = 100, text.Matrix
	c.Subword = CNN
	if _, err := MeasureDevice(t.Context(), c, d, text, 1, tiny); err == nil || !strings.Contains(err.Error(), "bytes of device memory, and 100 are free") {
		t.Errorf("error %v", err)
	}
	d.NotANumber = true
	if _, err := MeasureDevice(t.Context(), c, d, text, 1, tiny); err == nil || !strings.Contains(err.Error(), "nonsense") {
		t.Errorf("error %v", err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}
