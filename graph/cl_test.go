package graph

import (
	"context"
	"encoding/json"
	"flag"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/testdata"
	"github.com/w2vcl/w2vcl/train/trainer"
	"github.com/w2vcl/w2vcl/wordcontext"
)

var update = flag.Bool("update", false, "write the golden files anew")

func buildMatrix(t testing.TB, c *corpus.Corpus, columns int) *wordcontext.Matrix {
	t.Helper()
	m, err := wordcontext.Build(context.Background(), c, wordcontext.Options{Window: 2, Contexts: columns, Passes: 1, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

func contextNoise(t testing.TB, m *wordcontext.Matrix) *corpus.Alias {
	t.Helper()
	a, err := corpus.NewAlias(corpus.CountPower(m.ContextCounts(), 1))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// train runs iterations from ... to-1 of a fresh CL, or of one given a
// state, and returns it with its losses.
func train(t testing.TB, m *wordcontext.Matrix, c Options, from, to int, saved []tensorCopy) (*CL, []float64) {
	t.Helper()
	s, err := NewCL(m, contextNoise(t, m), to, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	for i, x := range s.State() {
		if saved != nil {
			if x.Name != saved[i].name {
				t.Fatalf("state %d is %s, saved %s", i, x.Name, saved[i].name)
			}
			copy(x.Data, saved[i].data)
		}
	}
	var losses []float64
	for unit := from; unit < to; unit++ {
		report, err := s.Advance(context.Background(), unit, .01)
		if err != nil {
			t.Fatal(err)
		}
		losses = append(losses, report.Loss/report.Pairs)
	}
	return s, losses
}

type tensorCopy struct {
	name string
	data []float32
}

func copyState(s interface{ State() []trainer.Tensor }) (saved []tensorCopy) {
	for _, x := range s.State() {
		saved = append(saved, tensorCopy{x.Name, slices.Clone(x.Data)})
	}
	return saved
}

func severalThreads() []int {
	if testing.Short() {
		return []int{3}
	}
	return []int{2, 3, 7}
}

// After Reset a trainer is as good as new, whatever it did before.
func TestReset(t *testing.T) {
	r := freshRandom(t)
	text := smallCorpus(t, r, 60, 300)
	m := buildMatrix(t, text, 10)
	cl, err := NewCL(m, contextNoise(t, m), 20, testOptions(9, 3, 2, optim.AdamRow))
	if err != nil {
		t.Fatal(err)
	}
	vanilla, err := NewVanilla(text, contextNoise(t, m), VanillaOptions{Window: 2, Batch: 16, Epochs: 1}, testOptions(9, 3, 2, optim.Adam))
	if err != nil {
		t.Fatal(err)
	}
	for _, trained := range []interface {
		Advance(ctx context.Context, unit int, rate float64) (trainer.Report, error)
		State() []trainer.Tensor
		Reset()
		Close() error
	}{cl, vanilla} {
		t.Cleanup(func() { trained.Close() })
		fresh := copyState(trained)
		for range 2 {
			if _, err := trained.Advance(context.Background(), 0, .01); err != nil {
				t.Fatal(err)
			}
		}
		trained.Reset()
		for i, x := range trained.State() {
			if !slices.Equal(x.Data, fresh[i].data) {
				t.Errorf("%T: %s is not as it was", trained, x.Name)
			}
		}
	}
}

// TestGoldenLosses holds ten iterations on real text to the losses they had
// when testdata/golden_losses.json was made (go test ./graph -run Golden
// -update). The tolerance is what assembly and plain Go may differ by.
func TestGoldenLosses(t *testing.T) {
	text, err := corpus.OpenFrom(context.Background(), testdata.Corpus(), "sotu", corpus.Options{MinCount: 50, Lowercase: true, Tokenizer: corpus.Words}, corpus.Storage{})
	if err != nil {
		t.Fatal(err)
	}
	m := buildMatrix(t, text, 64)
	golden := map[string][]float64{}
	_, golden["cl adam"] = train(t, m, testOptions(50, 5, 0, optim.Adam), 0, 10, nil)
	_, golden["cl sgd"] = train(t, m, testOptions(50, 5, 0, optim.SGD), 0, 10, nil)
	o := VanillaOptions{Window: 2, Sample: 1e-3, Batch: 1024, Epochs: 1}
	v, err := NewVanilla(text, contextNoise(t, m), o, testOptions(50, 5, 0, optim.Adam))
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	for unit := range 2 {
		report, err := v.Advance(context.Background(), unit, .01)
		if err != nil {
			t.Fatal(err)
		}
		golden["vanilla adam"] = append(golden["vanilla adam"], report.Loss/report.Pairs)
	}
	path := filepath.Join("testdata", "golden_losses.json")
	if *update {
		data, err := json.MarshalIndent(golden, "", "\t")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, append(data, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]float64{}
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	for name, losses := range want {
		if len(losses) != len(golden[name]) {
			t.Fatalf("%s: %d losses, golden file has %d", name, len(golden[name]), len(losses))
		}
		for i, loss := range losses {
			if math.Abs(golden[name][i]-loss) > 1e-4*loss {
				t.Errorf("%s, unit %d: loss %v, golden %v", name, i, golden[name][i], loss)
			}
		}
	}
}

func TestCLErrors(t *testing.T) {
	m := buildMatrix(t, smallCorpus(t, freshRandom(t), 5, 50), 4)
	good := testOptions(4, 2, 1, optim.Adam)
	if _, err := NewCL(m, uniformNoise(t, 4), 1, good); err == nil {
		t.Error("no error for noise over another vocabulary")
	}
	if _, err := NewCL(m, uniformNoise(t, 5), 0, good); err == nil {
		t.Error("no error for no iterations")
	}
	if _, err := NewCL(m, uniformNoise(t, 5), 1, Options{}); err == nil {
		t.Error("no error for zero options")
	}
	for _, size := range [][2]int{{4, 4}, {5, 3}} {
		c := good
		c.Encoder = &tableEncoder{dense(make([]float32, size[0]*size[1]), size[0], size[1])}
		if _, err := NewCL(m, uniformNoise(t, 5), 1, c); err == nil {
			t.Errorf("no error for an encoder of %d words of dimension %d", size[0], size[1])
		}
	}
	s, err := NewCL(m, uniformNoise(t, 5), 1, good)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.Advance(ctx, 0, .1); err == nil {
		t.Error("no error from a cancelled context")
	}
}

// Moments that come from earlier iterations are corrected by the number of all that updated them.
func TestBefore(t *testing.T) {
	m := buildMatrix(t, smallCorpus(t, freshRandom(t), 60, 300), 10)
	c := testOptions(9, 3, 1, optim.Adam)
	c.Optimizer.WeightDecay = 0
	first, _ := train(t, m, c, 0, 5, nil)
	saved := copyState(first)
	alone, _ := train(t, m, c, 5, 6, saved)
	c.Before = 100
	after, _ := train(t, m, c, 5, 6, saved)
	o := c.Optimizer.WithDefaults()
	size := func(step float64) float64 {
		return math.Sqrt(1-math.Pow(o.Beta2, step)) / (1 - math.Pow(o.Beta1, step))
	}
	want := size(106) / size(6)
	was := saved[0].data
	one, _ := alone.Tables()
	other, _ := after.Tables()
	for i, x := range was {
		if a, b := float64(one[i]-x), float64(other[i]-x); math.Abs(b-want*a) > 1e-5 {
			t.Fatalf("value %d moved by %g, not %g times %g", i, b, want, a)
		}
	}
}
