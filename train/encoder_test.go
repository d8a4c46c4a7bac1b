package train

import (
	"bytes"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/subword"
	"github.com/w2vcl/w2vcl/train/progress"
	"github.com/w2vcl/w2vcl/train/runfolder"
	"github.com/w2vcl/w2vcl/train/settings"
)

// subwordFlags are runs with an encoder, by a name.
var subwordFlags = map[string]map[string]string{
	"cnn":   {"subword": "cnn", "char-dim": "3", "widths": "1,2", "filters": "4"},
	"alone": {"subword": "cnn", "char-dim": "3", "widths": "2", "filters": "4", "gram": "2", "compose": "spelling"},
	"ngram": {"subword": "ngram", "min-ngram": "1", "max-ngram": "2", "buckets": "50"},
	// no encoder trains
	"fitted": {"subword": "none", "unseen": "regress"},
}

// subwordRuns lists the encoders of a mode: minibatches have no n-grams, and sentence-ordered modes nothing else.
func subwordRuns(mode string) (names []string) {
	if slices.Contains(sequentialModes, mode) {
		return []string{"ngram"}
	}
	for name := range subwordFlags {
		if mode != settings.ModeVanilla || name != "ngram" {
			names = append(names, name)
		}
	}
	return names
}

// subwordConfig is smallConfig with an encoder.
func subwordConfig(t *testing.T, mode, name string) settings.Config {
	t.Helper()
	small := smallConfig(t, mode)
	run := mode
	mode, model := withModel(run)
	flags := map[string]string{
		"mode": mode, "corpus": small.Corpus, "out": small.Out,
		"dim": "4", "negative": "2", "sample": "0", "epochs": "5", "threads": "2",
	}
	switch run {
	case settings.ModeCL:
		flags["model"], flags["contexts"], flags["lr"] = model, "8", "0.002" // at the high rates of short runs rounding errors grow
	case onStretches:
		flags["model"], flags["batch"], flags["iterations"], flags["lr"] = model, "200", "6", "0.002"
		delete(flags, "epochs")
	}
	maps.Copy(flags, subwordFlags[name])
	c, err := settings.Resolve("", flags)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A run with an encoder is the same to the bit, encoder and all, on other
// threads (one, for sentence-ordered modes) and after an interrupt; measuring it for a plan and observing it change nothing. What
// is observed is composed.
func TestEncoderRunsAreExact(t *testing.T) {
	hash := func(out string) string {
		name := runfolder.EncoderFile
		if !exists(filepath.Join(out, name)) {
			name = runfolder.FitFile
		}
		return hashOf(t, out) + string(mustRead(t, filepath.Join(out, name)))
	}
	for _, mode := range append(slices.Clone(graphModes), "word2vec", "fullw2v") {
		for _, name := range subwordRuns(mode) {
			t.Run(mode+" "+name, func(t *testing.T) {
				t.Parallel()
				c := subwordConfig(t, mode, name)
				threads := 3
				if slices.Contains(sequentialModes, mode) {
					c.Threads, threads = 1, 1
				}
				if _, err := Run(t.Context(), c, Options{}, nil); err != nil {
					t.Fatal(err)
				}
				want := hash(c.Out)
				d := c
				d.Out, d.Threads = filepath.Join(t.TempDir(), "run"), threads
				var seen float32 // by the last observation
				observed := Options{Observations: 3, Observe: func(o Observation) error {
					table, err := o.Vectors()
					if err == nil {
						seen = table.Vector(0)[0]
					}
					return err
				}}
				if _, err := Run(t.Context(), d, observed, progress.New(&bytes.Buffer{})); err != nil {
					t.Fatal(err)
				}
				if hash(d.Out) != want {
					t.Errorf("%d threads, observed: another result", threads)
				}
				checkFirstValue(t, d.Out, seen)
				d.Out = filepath.Join(t.TempDir(), "run")
				interruptRun(t, d)
				if v, err := runfolder.LoadVectors(t.Context(), d.Out); err != nil || v.Encoder == nil {
					t.Errorf("interrupted: %v", err)
				}
				if _, err := Resume(t.Context(), nil, d.Out, map[string]string{"threads": "1"}, nil, nil); err != nil {
					t.Fatal(err)
				}
				if hash(d.Out) != want {
					t.Error("resumed: another result than undisturbed")
				}
			})
		}
	}
}

// A plan tells the time of a fit, which is longer with more values and shorter with more threads.
func TestPlanTellsTheFit(t *testing.T) {
	plan := func(unseen string, dim, threads int) (seconds float64, text string) {
		c := subwordConfig(t, "word2vec", "fitted")
		c.Unseen, c.Dim, c.Threads = unseen, dim, threads
		p, err := MakePlan(t.Context(), c, Options{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := p.Print(&b); err != nil {
			t.Fatal(err)
		}
		return p.SecondsFit, b.String()
	}
	const clause = "to fit n-grams for unseen words"
	seconds, text := plan("regress", 32, 1)
	if seconds <= 0 || !strings.Contains(text, clause) {
		t.Errorf("%v seconds, and the plan says\n%s", seconds, text)
	}
	if twice, _ := plan("regress", 64, 1); twice != 2*seconds {
		t.Errorf("dim 32: %v seconds, dim 64: %v", seconds, twice)
	}
	if half, _ := plan("regress", 32, 2); half != seconds/2 {
		t.Errorf("1 thread: %v seconds, 2 threads: %v", seconds, half)
	}
	if none, text := plan("encoder", 32, 1); none != 0 || strings.Contains(text, clause) {
		t.Errorf("without a fit: %v seconds, and the plan says\n%s", none, text)
	}
}

// With a fit, the network is in the run folder, too, and is the same as without. What was fitted when a run was interrupted does not
// belong to the vectors at its end.
func TestResumeWithoutFit(t *testing.T) {
	sources := func(c settings.Config) (network []byte, answers subword.Source) {
		t.Helper()
		v, err := runfolder.LoadVectors(t.Context(), c.Out)
		if err != nil {
			t.Fatal(err)
		}
		return mustRead(t, filepath.Join(c.Out, runfolder.EncoderFile)), v.Encoder.Source()
	}
	c := subwordConfig(t, settings.ModeCL, "cnn")
	c.Unseen = "regress"
	whole := c
	whole.Out = filepath.Join(t.TempDir(), "run")
	if _, err := Run(t.Context(), whole, Options{}, nil); err != nil {
		t.Fatal(err)
	}
	want, answers := sources(whole)
	if answers != subword.FromFit {
		t.Errorf("with a fit, %s answers", answers)
	}
	interruptRun(t, c)
	if _, answers := sources(c); answers != subword.FromFit {
		t.Errorf("interrupted, %s answers", answers)
	}
	if _, err := Resume(t.Context(), nil, c.Out, map[string]string{"unseen": "encoder"}, nil, nil); err != nil {
		t.Fatal(err)
	}
	if got, answers := sources(c); answers != subword.FromCNN || !bytes.Equal(got, want) || exists(filepath.Join(c.Out, runfolder.FitFile)) {
		t.Errorf("without a fit, %s answers, or the network is another one", answers)
	}
}

// The encoder of a run composes vectors that differ from those of the vocabulary by a line of the logarithms of counts, which is 0
// for words that occur once.
func TestEncoderOfARun(t *testing.T) {
	for _, name := range []string{"cnn", "alone", "ngram", "stretches"} {
		c := subwordConfig(t, settings.ModeCL, strings.Replace(name, "stretches", "ngram", 1))
		if name == "stretches" {
			c = subwordConfig(t, onStretches, "ngram")
		}
		if _, err := Run(t.Context(), c, Options{}, nil); err != nil {
			t.Fatal(err)
		}
		table, err := embedding.Load(t.Context(), filepath.Join(c.Out, runfolder.VectorsFile))
		if err != nil {
			t.Fatal(err)
		}
		e, err := subword.Load(filepath.Join(c.Out, runfolder.EncoderFile))
		if err != nil {
			t.Fatal(err)
		}
		got := make([]float32, len(table.Vectors))
		if err := e.Encode(table.Words, got); err != nil {
			t.Fatal(err)
		}
		vocabulary, err := corpus.ReadVocabularyTSV(bytes.NewReader(mustRead(t, filepath.Join(c.Out, runfolder.VocabularyFile))), "vocabulary")
		if err != nil {
			t.Fatal(err)
		}
		for k := range c.Dim {
			var n, x, xx, y, xy, size float64
			for v, count := range vocabulary.Counts {
				log, off := math.Log(float64(count)), float64(table.Vectors[v*c.Dim+k]-got[v*c.Dim+k])
				n, x, xx, y, xy, size = n+1, x+log, xx+log*log, y+off, xy+log*off, size+math.Abs(off)
			}
			slope := (xy - x*y/n) / (xx - x*x/n + n/100)
			if once := y/n - slope*x/n; size == 0 || math.Abs(once) > 1e-5*size {
				t.Errorf("%s: value %d of words that occur once is off by %v, of %v in all", name, k, once, size)
			}
		}
		unseen := make([]float32, 2*c.Dim)
		if err := e.Encode([]string{"reed", "zzz"}, unseen); err != nil || slices.Equal(unseen[:c.Dim], unseen[c.Dim:]) {
			t.Errorf("%s: unseen words get %v, error %v", name, unseen, err)
		}
		// Recorded settings make the same run; those of another encoder are not recorded.
		again, err := settings.Resolve(filepath.Join(c.Out, runfolder.ConfigFile), map[string]string{"out": c.Out})
		if err != nil {
			t.Fatal(err)
		}
		if again.Subword != c.Subword || !slices.Equal(again.Widths, c.Widths) || again.Compose != c.Compose || again.Buckets != c.Buckets || again.SubwordLR != c.SubwordLR {
			t.Errorf("%s: read back %+v\nwant %+v", name, again, c)
		}
	}
}

func TestEncoderPlan(t *testing.T) {
	for _, mode := range graphModes {
		for _, name := range subwordRuns(mode) {
			c := subwordConfig(t, mode, name)
			plan, err := MakePlan(t.Context(), c, Options{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if m := plan.Memory; m.Moments <= 2*6*4*4 || m.Work <= 0 || m.Total != m.Corpus+m.Matrix+m.Tables+m.Moments+m.Work {
				t.Errorf("%s %s: %+v", mode, name, m)
			}
			if got := entries(t, filepath.Dir(c.Out)); got != nil {
				t.Errorf("%s %s: left %v", mode, name, got)
			}
		}
	}
	c := subwordConfig(t, settings.ModeCL, "cnn")
	c.CharDim, c.Filters, c.MaxMemory = 1000, settings.Numbers{60000}, size(t, "300MB")
	if _, err := MakePlan(t.Context(), c, Options{}, nil); err == nil || !strings.Contains(err.Error(), "--filters (now 60000)") {
		t.Errorf("too little memory: %v", err)
	}
	c = subwordConfig(t, settings.ModeCL, "cnn")
	c.MaxChars = 3
	var shown bytes.Buffer
	if _, err := MakePlan(t.Context(), c, Options{}, progress.New(&shown)); err != nil || !strings.Contains(shown.String(), "Note: 3 words longer than --max-chars 3") {
		t.Errorf("%v, %s", err, &shown)
	}
}
