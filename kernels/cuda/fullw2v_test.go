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
	return FullW2VConfig{
		Vocabulary: text.Vocabulary.Len(), Dim: c.Dim, Negatives: c.Negatives, Half: (c.Window + 1) / 2, Seed: c.Seed,
		Alias: noise.Table(), Counts: text.Vocabulary.Counts, Keep: corpus.KeepThresholds(text.Vocabulary.Counts, c.Sample),
		Tokens: text.Tokens, Sentences: text.Sentences, Units: units(len(text.Sentences) - 1), Epochs: c.Epochs, InFlight: inFlight,
	}
}

const testRate = 0.025

// units cuts sentences into three units.
func units(sentences int) []int { return []int{0, sentences / 4, sentences / 2, sentences} }

// trainAll trains all epochs.
func trainAll(t testing.TB, f *FullW2V, rate float32) (losses, pairs []float64) {
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

// Every shape has a kernel, whose warps have all of a row.
func TestFullW2VKernels(t *testing.T) {
	source, err := built.ReadFile("built/fullw2v.ptx")
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	for _, entry := range strings.Split(string(source), ".entry ")[1:] {
		there[entry[:strings.IndexByte(entry, '(')]] = true
	}
	for dim := 1; dim <= 1024; dim++ {
		for negatives := 1; negatives <= 15; negatives++ {
			for half := 1; half <= 15; half++ {
				c := FullW2VConfig{Dim: dim, Negatives: negatives, Half: half}
				k, err := c.kernel()
				if err != nil {
					t.Fatal(err)
				}
				var f, e, outputs, together int
				if _, err := fmt.Sscanf(strings.Replace(k.name, "team_", "", 1), "fullw2v_%d_%d_%d_%d", &f, &e, &outputs, &together); err != nil {
					t.Fatalf("%s: %v", k.name, err)
				}
				if !there[k.name] {
					t.Fatalf("N=%d K=%d W_f=%d: there is no %s", dim, negatives, half, k.name)
				}
				if k.threads/32*(128*f+32*e) < dim || outputs < 1+negatives {
					t.Fatalf("N=%d K=%d W_f=%d: %s with %d threads is too small", dim, negatives, half, k.name, k.threads)
				}
			}
		}
	}
}

// With one sentence in flight, the tables are those of the CPU.
func TestFullW2V(t *testing.T) {
	d := open(t)
	var tests []sequential.Config
	for _, dim := range dims {
		tests = append(tests, sequential.Config{Dim: dim, Window: 5, Negatives: 5})
	}
	for _, dim := range []int{129, 200, 384, 640} {
		tests = append(tests, sequential.Config{Dim: dim, Window: 5, Negatives: 5})
	}
	for _, k := range []int{1, 3, 7, 10, 15} {
		for _, dim := range []int{20, 300, 384} {
			tests = append(tests, sequential.Config{Dim: dim, Window: 5, Negatives: k})
		}
	}
	for _, w := range []int{1, 2, 3, 10, 30} {
		for _, dim := range []int{128, 200, 300, 384, 500} {
			tests = append(tests, sequential.Config{Dim: dim, Window: w, Negatives: 5})
		}
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
	losses, counts := trainAll(t, f, testRate)
	loss, pairs := total(losses), total(counts)
	var wantLoss, wantPairs float64
	for unit := range reference.Units() {
		report, err := reference.Advance(context.Background(), unit, testRate)
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
	nearWithin(t, "words", gotWords, words, tolerance)
	nearWithin(t, "contexts", gotContexts, contexts, tolerance)
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
	trainAll(t, f, rate)
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
		losses, pairs := trainAll(t, f, testRate)
		mean := total(losses) / total(pairs)
		t.Logf("%d in flight: loss %.5f a pair", inFlight, mean)
		if inFlight == 1 {
			one = mean
		} else if !(math.Abs(mean-one) < .03*one) {
			t.Errorf("%d in flight: loss %v a pair, one in flight %v", inFlight, mean, one)
		}
	}
}

// Loss and pairs of every unit are those of the CPU.
func TestFullW2VUnits(t *testing.T) {
	d := open(t)
	c := sequential.Config{Dim: 50, Window: 5, Negatives: 5, Epochs: 2, Seed: freshSeed(t)}
	text, noise := read(t, zipf(c.Seed, 3000, 400))
	c.Algorithm, c.Threads = sequential.FullW2V, 1
	reference, err := sequential.New(text, noise, c)
	if err != nil {
		t.Fatal(err)
	}
	config := fullConfig(text, noise, c, 1)
	config.Units = reference.Bounds()
	f, err := d.NewFullW2V(config)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.SetTables(reference.Tables()); err != nil {
		t.Fatal(err)
	}
	const at = 7
	for first := 0; first < f.units(); first += at { // units of two epochs in one call, too
		rates := make([]float32, min(at, f.units()-first))
		for i := range rates {
			rates[i] = testRate / float32(first+i+1)
		}
		losses, pairs, err := f.Train(first, rates)
		if err != nil {
			t.Fatal(err)
		}
		for i, rate := range rates {
			report, err := reference.Advance(context.Background(), first+i, float64(rate))
			if err != nil {
				t.Fatal(err)
			}
			if !(math.Abs(losses[i]-report.Loss) <= 1e-4*report.Loss) || pairs[i] != report.Pairs {
				t.Errorf("unit %d: loss %v of %v pairs, want %v of %v", first+i, losses[i], pairs[i], report.Loss, report.Pairs)
			}
		}
	}
	if _, _, err := f.Train(f.units(), []float32{1}); err == nil {
		t.Error("no error of a unit behind the last")
	}
}

// A text that comes in pieces gives the tables of one that is there at once, however
// few units have room and however many are trained in a call.
func TestFullW2VPieces(t *testing.T) {
	d := open(t)
	c := sequential.Config{Dim: 50, Window: 5, Negatives: 5, Epochs: 3, Seed: freshSeed(t)}
	text, noise := read(t, zipf(c.Seed, 12_000, 400))
	config := fullConfig(text, noise, c, 1)
	config.Units = nil
	for s := 0; s < len(text.Sentences)-1; s += 10 {
		config.Units = append(config.Units, s)
	}
	config.Units = append(config.Units, len(text.Sentences)-1)
	var want []float32
	for _, part := range []int{0, 3, 8} {
		for _, call := range []int{1, 7, 1000} {
			config.TextTokens = 0
			if part > 0 {
				config.TextTokens = len(text.Tokens) / part
			}
			f, err := d.NewFullW2V(config)
			if err != nil {
				t.Fatal(err)
			}
			r := rand.New(rand.NewPCG(1, 2))
			words, contexts := make([]float32, config.Vocabulary*c.Dim), make([]float32, config.Vocabulary*c.Dim)
			for i := range words {
				words[i], contexts[i] = (r.Float32()-.5)/10, (r.Float32()-.5)/10
			}
			if err := f.SetTables(words, contexts); err != nil {
				t.Fatal(err)
			}
			for first := 0; first < f.units(); first += call {
				if _, _, err := f.Train(first, slices.Repeat([]float32{testRate}, min(call, f.units()-first))); err != nil {
					t.Fatal(err)
				}
			}
			if err := errors.Join(f.Tables(words, contexts), f.Close()); err != nil {
				t.Fatal(err)
			}
			if got := append(words, contexts...); want == nil {
				want = got
			} else {
				near(t, fmt.Sprintf("1/%d of the text, %d units in a call", part, call), got, want)
			}
		}
	}
	config.TextTokens = 100
	if _, err := d.NewFullW2V(config); err == nil || !strings.Contains(err.Error(), "two units may need") {
		t.Errorf("no room for a unit: error %v", err)
	}
}

// A few windows with every kind of kernel, for compute-sanitizer, which takes a
// thousand times as long.
func TestFullW2VShort(t *testing.T) {
	d := open(t)
	for _, x := range []struct {
		dim, negatives int
		kernel         choice
	}{
		{128, 5, choice{}}, {300, 5, choice{}}, {500, 5, choice{}}, {300, 7, choice{}},
		{128, 5, choice{half: true}}, {128, 5, choice{rung: "register"}}, {128, 5, choice{rung: "block"}},
		{128, 5, choice{rung: "warp"}}, {128, 5, choice{rung: "joint"}},
	} {
		t.Run(fmt.Sprintf("N=%d/K=%d/%+v", x.dim, x.negatives, x.kernel), func(t *testing.T) {
			c := sequential.Config{Dim: x.dim, Window: 5, Negatives: x.negatives, Epochs: 1, Seed: freshSeed(t)}
			reference, f := fullW2VCase(t, d, zipf(c.Seed, 60, 20), c, 2, x.kernel)
			words, _ := reference.Tables()
			before := slices.Clone(words)
			if _, pairs := trainAll(t, f, testRate); total(pairs) == 0 {
				t.Error("nothing was trained")
			}
			if err := f.Tables(words, slices.Clone(words)); err != nil {
				t.Fatal(err)
			}
			if slices.Equal(words, before) {
				t.Error("no word changed")
			}
		})
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
		Vocabulary: vocabulary, Negatives: 5, Seed: 1, Alias: noise.Table(), Counts: counts, Keep: corpus.KeepThresholds(counts, 1e-4),
		Tokens: make([]uint32, tokens), Epochs: epochs,
	}
	for i := range c.Tokens {
		c.Tokens[i] = text.Draw(rand.Uint32())
	}
	for first := 0; first < tokens; first += 1000 {
		c.Sentences = append(c.Sentences, first)
	}
	c.Sentences = append(c.Sentences, tokens)
	c.Units = []int{0, len(c.Sentences) - 1}
	for _, x := range []struct {
		dim, half, inFlight int
		halfPrecision       bool
		rung                string
	}{
		{128, 3, 528, false, ""}, {128, 3, 1056, false, ""}, {128, 3, 1584, false, ""}, {128, 5, 1584, false, ""},
		{200, 3, 1584, false, ""}, {256, 3, 1584, false, ""}, {300, 3, 1584, false, ""}, {384, 3, 1584, false, ""}, {512, 3, 1584, false, ""}, {1000, 3, 1584, false, ""},
		{200, 5, 1584, false, ""}, {256, 5, 1584, false, ""}, {300, 5, 1584, false, ""}, {384, 5, 1584, false, ""}, {512, 5, 1584, false, ""}, {1000, 5, 1584, false, ""},
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
				losses, pairs := trainAll(b, f, testRate)
				rates = append(rates, epochs*tokens/time.Since(start).Seconds())
				mean = total(losses) / total(pairs)
			}
			slices.Sort(rates)
			b.ReportMetric(rates[len(rates)/2]/1e6, "Mwords/s")
			b.ReportMetric(mean, "loss/pair")
		})
	}
}
