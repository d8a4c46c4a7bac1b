//go:build gpu

package cuda

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/sequential"
)

// A choice is one among the kernels.
type choice struct {
	half bool
	rung string
}

// fullW2VCase is FULL-W2V on one thread of the CPU and the same on the device.
func fullW2VCase(t testing.TB, d *Device, text string, c sequential.Config, inFlight int, kernel choice) (*sequential.Trainer, *FullW2V) {
	t.Helper()
	parsed, noise := read(t, text)
	c.Algorithm, c.Threads = sequential.FullW2V, 1
	reference, err := sequential.New(parsed, noise, c)
	if err != nil {
		t.Fatal(err)
	}
	config := fullConfig(parsed, noise, c, inFlight)
	config.HalfPrecision, config.rung = kernel.half, kernel.rung
	f, err := d.NewFullW2V(config)
	if err != nil {
		t.Fatal(err)
	}
	words, contexts := reference.Tables()
	// W as it is after some training: zeros in C would hide errors.
	r := rand.New(rand.NewPCG(c.Seed, 2))
	for i := range words {
		words[i], contexts[i] = (r.Float32()-.5)/float32(math.Sqrt(float64(c.Dim))), (r.Float32()-.5)/float32(math.Sqrt(float64(c.Dim)))
	}
	if err := f.SetTables(words, contexts); err != nil {
		t.Fatal(err)
	}
	return reference, f
}

func fullConfig(text *corpus.Corpus, noise *corpus.Alias, c sequential.Config, inFlight int) FullW2VConfig {
	rates := make([][]float32, c.Epochs)
	for i := range rates {
		rates[i] = []float32{testRate}
	}
	return FullW2VConfig{
		Vocabulary: text.Vocabulary.Len(), Dim: c.Dim, Negatives: c.Negatives, Half: (c.Window + 1) / 2, Seed: c.Seed,
		Alias: noise.Table(), Keep: corpus.KeepThresholds(text.Vocabulary.Counts, c.Sample),
		Tokens: text.Tokens, Sentences: text.Sentences, Units: []int{0, len(text.Sentences) - 1}, Rates: rates, InFlight: inFlight,
	}
}

const testRate = 0.025

// With one sentence in flight, the tables are those of the CPU.
func TestFullW2V(t *testing.T) {
	d := open(t)
	var tests []sequential.Config
	for _, dim := range dims {
		tests = append(tests, sequential.Config{Dim: dim, Window: 5, Negatives: 5})
	}
	for _, k := range []int{1, 3, 7, 15} {
		tests = append(tests, sequential.Config{Dim: 20, Window: 5, Negatives: k}, sequential.Config{Dim: 300, Window: 5, Negatives: k})
	}
	for _, w := range []int{1, 2, 3, 10, 30} {
		tests = append(tests, sequential.Config{Dim: 128, Window: w, Negatives: 5})
	}
	for _, c := range tests {
		few := 5 // so that windows hold words several times
		if c.Window > 10 {
			few = 40 // of five words each would be there a dozen times, and rounding grow with their steps
		}
		for _, vocabulary := range []int{few, 400} {
			t.Run(fmt.Sprintf("N=%d/W=%d/K=%d/V=%d", c.Dim, c.Window, c.Negatives, vocabulary), func(t *testing.T) {
				c.Seed, c.Epochs, c.Sample = freshSeed(t), 2, 1e-2
				if vocabulary < 10 {
					c.Sample = 0 // there would be nothing left
				}
				reference, f := fullW2VCase(t, d, zipf(c.Seed, 1500, vocabulary), c, 1, choice{})
				sameFullW2V(t, reference, f, 1e-4)
			})
		}
	}
}

// sameFullW2V trains all epochs on both and compares.
func sameFullW2V(t *testing.T, reference *sequential.Trainer, f *FullW2V, tolerance float64) {
	t.Helper()
	loss, pairs, err := f.Train(0, len(f.config.Rates)*(len(f.config.Sentences)-1))
	if err != nil {
		t.Fatal(err)
	}
	var wantLoss, wantPairs float64
	for unit := range reference.Units() {
		report, err := reference.Advance(context.Background(), unit, testRate)
		if err != nil {
			t.Fatal(err)
		}
		wantLoss, wantPairs = wantLoss+report.Loss, wantPairs+report.Pairs
	}
	if !(math.Abs(loss-wantLoss) <= tolerance*wantLoss) || float64(pairs) != wantPairs {
		t.Errorf("loss %v of %d pairs, want %v of %v", loss, pairs, wantLoss, wantPairs)
	}
	words, contexts := reference.Tables()
	gotWords, gotContexts := make([]float32, len(words)), make([]float32, len(words))
	if err := f.Tables(gotWords, gotContexts); err != nil {
		t.Fatal(err)
	}
	within(t, tolerance, "words", gotWords, words)
	within(t, tolerance, "contexts", gotContexts, contexts)
}

// In half precision C has 11 binary digits, so that a table is that of the CPU but
// for a part in some hundreds: every step is rounded.
func TestFullW2VHalf(t *testing.T) {
	d := open(t)
	var tests []sequential.Config
	for _, dim := range dims {
		tests = append(tests, sequential.Config{Dim: dim, Window: 5, Negatives: 5})
	}
	for _, k := range []int{1, 3, 7} {
		tests = append(tests, sequential.Config{Dim: 20, Window: 5, Negatives: k}, sequential.Config{Dim: 300, Window: 5, Negatives: k})
	}
	for _, w := range []int{1, 2, 3, 10, 14} {
		tests = append(tests, sequential.Config{Dim: 128, Window: w, Negatives: 5}, sequential.Config{Dim: 300, Window: w, Negatives: 5})
	}
	for _, c := range tests {
		for _, vocabulary := range []int{20, 400} {
			t.Run(fmt.Sprintf("N=%d/W=%d/K=%d/V=%d", c.Dim, c.Window, c.Negatives, vocabulary), func(t *testing.T) {
				c.Seed, c.Epochs = freshSeed(t), 2
				reference, f := fullW2VCase(t, d, zipf(c.Seed, 1500, vocabulary), c, 1, choice{half: true})
				sameFullW2V(t, reference, f, 2e-2)
			})
		}
	}
}

// Steps far below the last digit of C are not lost: a thousand and more of them
// move it as far as on the CPU.
func TestFullW2VHalfSmallSteps(t *testing.T) {
	d := open(t)
	c := sequential.Config{Dim: 128, Window: 5, Negatives: 5, Epochs: 4, Seed: freshSeed(t)}
	reference, f := fullW2VCase(t, d, zipf(c.Seed, 20_000, 50), c, 1, choice{half: true})
	words, contexts := reference.Tables()
	for i := range contexts { // no rounding on the way to the device
		contexts[i] = float(half(contexts[i]))
	}
	before := slices.Clone(contexts)
	if err := f.SetTables(words, contexts); err != nil {
		t.Fatal(err)
	}
	const rate = 1e-5
	for unit := range c.Epochs {
		if err := f.SetRates(unit, []float32{rate}); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := f.Train(0, c.Epochs*(len(f.config.Sentences)-1)); err != nil {
		t.Fatal(err)
	}
	for unit := range reference.Units() {
		if _, err := reference.Advance(context.Background(), unit, rate); err != nil {
			t.Fatal(err)
		}
	}
	got := make([]float32, len(contexts))
	if err := f.Tables(slices.Clone(words), got); err != nil {
		t.Fatal(err)
	}
	var along, norm, largest float64
	for i := range got {
		want := float64(contexts[i] - before[i])
		along, norm = along+want*float64(got[i]-before[i]), norm+want*want
		largest = max(largest, math.Abs(want))
	}
	t.Logf("C moved %.4f of the way; the longest way is %.1e", along/norm, largest)
	if !(math.Abs(along/norm-1) < .02) {
		t.Errorf("C moved %v of the way it should have", along/norm)
	}
}

// With many in flight, the loss is near that of one.
func TestFullW2VInFlight(t *testing.T) {
	d := open(t)
	c := sequential.Config{Dim: 100, Window: 5, Negatives: 5, Sample: 1e-3, Epochs: 3, Seed: 11}
	var one float64
	for _, inFlight := range []int{1, 16, 0} {
		_, f := fullW2VCase(t, d, zipf(3, 300_000, 2000), c, inFlight, choice{})
		loss, pairs, err := f.Train(0, c.Epochs*(len(f.config.Sentences)-1))
		if err != nil {
			t.Fatal(err)
		}
		mean := loss / float64(pairs)
		t.Logf("%d in flight: loss %.5f a pair", inFlight, mean)
		if inFlight == 1 {
			one = mean
		} else if !(math.Abs(mean-one) < .03*one) {
			t.Errorf("%d in flight: loss %v a pair, one in flight %v", inFlight, mean, one)
		}
	}
}

// Every rung of the ladder gives the tables of the CPU.
func TestLadder(t *testing.T) {
	d := open(t)
	for _, rung := range rungs {
		for _, window := range []int{5, 10} {
			for _, vocabulary := range []int{5, 400} {
				t.Run(fmt.Sprintf("%s/W=%d/V=%d", rung, window, vocabulary), func(t *testing.T) {
					c := sequential.Config{Dim: 128, Window: window, Negatives: 5, Epochs: 2, Seed: freshSeed(t)}
					reference, f := fullW2VCase(t, d, zipf(c.Seed, 1500, vocabulary), c, 1, choice{rung: rung})
					sameFullW2V(t, reference, f, 1e-4)
				})
			}
		}
	}
}

// Train words a second on a text as long as 100 MB of Wikipedia, whose words
// are as frequent. Sentences have 1000 words.
func BenchmarkFullW2V(b *testing.B) {
	const tokens, vocabulary, epochs = 16_700_000, 67_869, 4
	counts := make([]uint64, vocabulary)
	weights := make([]float64, vocabulary)
	for i := range counts {
		weights[i] = 1 / (float64(i) + 2.7)
		counts[i] = max(5, uint64(1.6e6*weights[i]))
	}
	text, err := corpus.NewAlias(weights)
	if err != nil {
		b.Fatal(err)
	}
	noise, err := corpus.NewAlias(corpus.CountPower(counts, .75))
	if err != nil {
		b.Fatal(err)
	}
	c := FullW2VConfig{
		Vocabulary: vocabulary, Negatives: 5, Seed: 1, Alias: noise.Table(), Keep: corpus.KeepThresholds(counts, 1e-4),
		Tokens: make([]uint32, tokens), Rates: make([][]float32, epochs),
	}
	for i := range c.Tokens {
		c.Tokens[i] = text.Draw(rand.Uint32())
	}
	for first := 0; first < tokens; first += 1000 {
		c.Sentences = append(c.Sentences, first)
	}
	c.Sentences = append(c.Sentences, tokens)
	c.Units = []int{0, len(c.Sentences) - 1}
	for i := range c.Rates {
		c.Rates[i] = []float32{testRate}
	}
	for _, x := range []struct {
		dim, half, inFlight int
		halfPrecision       bool
		rung                string
	}{
		{128, 3, 528, false, ""}, {128, 3, 1056, false, ""}, {128, 3, 1584, false, ""}, {128, 5, 1584, false, ""},
		{300, 3, 1056, false, ""}, {300, 5, 1056, false, ""},
		{128, 3, 528, true, ""}, {128, 3, 1056, true, ""}, {128, 3, 1584, true, ""}, {128, 5, 1584, true, ""},
		{256, 3, 1056, true, ""}, {300, 3, 1056, true, ""}, {300, 5, 1056, true, ""}, {1000, 3, 792, true, ""},
		{128, 3, 1056, false, "register"}, {128, 3, 1056, false, "block"}, {128, 3, 1056, false, "warp"}, {128, 3, 1056, false, "joint"},
		{128, 5, 1056, false, "register"}, {128, 5, 1056, false, "block"}, {128, 5, 1056, false, "warp"}, {128, 5, 1056, false, "joint"},
	} {
		name := "float32" + x.rung
		if x.halfPrecision {
			name = "half"
		}
		b.Run(fmt.Sprintf("%s/N=%d/Wf=%d/inflight=%d", name, x.dim, x.half, x.inFlight), func(b *testing.B) {
			d := open(b)
			c.Dim, c.Half, c.InFlight, c.HalfPrecision, c.rung = x.dim, x.half, x.inFlight, x.halfPrecision, x.rung
			f, err := d.NewFullW2V(c)
			if err != nil {
				b.Fatal(err)
			}
			words, contexts := make([]float32, vocabulary*x.dim), make([]float32, vocabulary*x.dim)
			for i := range words {
				words[i] = (rand.Float32() - .5) / float32(x.dim)
			}
			if err := f.SetTables(words, contexts); err != nil {
				b.Fatal(err)
			}
			var rates []float64
			var mean float64
			for b.Loop() {
				start := time.Now()
				loss, pairs, err := f.Train(0, epochs*(len(c.Sentences)-1))
				if err != nil {
					b.Fatal(err)
				}
				rates = append(rates, epochs*tokens/time.Since(start).Seconds())
				mean = loss / float64(pairs)
			}
			slices.Sort(rates)
			b.ReportMetric(rates[len(rates)/2]/1e6, "Mwords/s")
			b.ReportMetric(mean, "loss/pair")
		})
	}
}
