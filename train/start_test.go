package train

import (
	"bytes"
	"cmp"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/graph"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/sequential"
	"github.com/w2vcl/w2vcl/subword"
	"github.com/w2vcl/w2vcl/train/progress"
	"github.com/w2vcl/w2vcl/train/runfolder"
	"github.com/w2vcl/w2vcl/train/settings"
	"github.com/w2vcl/w2vcl/train/trainer"
)

// A run can go on from another on a new text: words of both are trained on,
// words the new text lacks keep their vectors, and new ones come in.
func TestInit(t *testing.T) {
	first := smallConfig(t, string(sequential.Word2Vec))
	if _, err := Run(t.Context(), first, Options{}, nil); err != nil {
		t.Fatal(err)
	}
	old, err := embedding.Load(t.Context(), filepath.Join(first.Out, runfolder.VectorsFile))
	if err != nil {
		t.Fatal(err)
	}
	lost, shared := old.Words[0], old.Words[1]
	text := writeFile(t, "new", strings.ReplaceAll(smallText(), lost, "newcomer"))
	exported := filepath.Join(t.TempDir(), "old.vec")
	if err := embedding.Save(exported, old, embedding.Word2VecText); err != nil {
		t.Fatal(err)
	}
	for _, init := range []string{first.Out, exported} {
		c := longerConfig(t, string(sequential.FullW2V))
		c.Corpus, c.Init, c.ContextWeight = text, init, 0.7 // not that of first
		var notes bytes.Buffer
		if _, err := Run(t.Context(), c, Options{}, progress.New(&notes)); err != nil {
			t.Fatal(err)
		}
		if want := "6 words of " + init + ", 5 of them in the text, which has 1 more"; !strings.Contains(notes.String(), want) {
			t.Errorf("no word of %q:\n%s", want, &notes)
		}
		got, err := embedding.Load(t.Context(), filepath.Join(c.Out, runfolder.VectorsFile))
		if err != nil {
			t.Fatal(err)
		}
		vector := func(table *embedding.Table, word string) []float32 {
			row, ok := table.Index(word)
			if !ok {
				t.Fatalf("%s is gone", word)
			}
			return table.Vector(row)
		}
		vector(got, "newcomer")
		if !slices.Equal(vector(got, lost), vector(old, lost)) {
			t.Errorf("%s, which the text lacks, was changed", lost)
		}
		if slices.Equal(vector(got, shared), vector(old, shared)) {
			t.Errorf("%s was not trained", shared)
		}

		checkResumed(t, c, hashOf(t, c.Out), nil)
	}
}

// TestResumeKnowsTheWordsOfInit: rows of a checkpoint belong to all words of vocab.tsv, those that --init added
// among them, so other vectors under the same name are refused.
func TestResumeKnowsTheWordsOfInit(t *testing.T) {
	c := longerConfig(t, string(sequential.PWord2Vec))
	c.Init = writeFile(t, "old.vec", "2 4\nred 1 2 3 4\nolder 5 6 7 8\n")
	interruptRun(t, c)
	saved, err := runfolder.OpenCheckpoint(filepath.Join(c.Out, runfolder.CheckpointFile))
	if err != nil {
		t.Fatal(err)
	}
	saved.Close()
	if want := corpus.Hex(xxhash.Sum64(mustRead(t, filepath.Join(c.Out, runfolder.VocabularyFile)))); saved.Vocabulary != want {
		t.Errorf("the checkpoint has vocabulary %s, vocab.tsv is %s", saved.Vocabulary, want)
	}
	if err := os.WriteFile(c.Init, []byte("2 4\nred 1 2 3 4\nother 5 6 7 8\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Resume(t.Context(), nil, c.Out, nil, nil, nil); err == nil || !strings.Contains(err.Error(), "the words of the text, or how often they occur, changed") {
		t.Errorf("other words of --init: error %v", err)
	}
}

// TestResumeWithRelativeInit: the folder that a path began in is not that of resume.
func TestResumeWithRelativeInit(t *testing.T) {
	for _, mode := range []string{string(sequential.PWord2Vec), settings.ModeCL} {
		c := longerConfig(t, mode)
		path := writeFile(t, "old.vec", "2 4\nred 1 2 3 4\nolder 5 6 7 8\n")
		t.Chdir(filepath.Dir(path))
		c.Init = filepath.Base(path)
		interruptRun(t, c)
		t.Chdir(t.TempDir())
		if _, err := Resume(t.Context(), nil, c.Out, nil, nil, nil); err != nil {
			t.Errorf("%s: %v", mode, err)
		}
	}
}

func TestInitRefuses(t *testing.T) {
	c := smallConfig(t, string(sequential.Word2Vec))
	c.Init = filepath.Join(t.TempDir(), "none")
	if _, err := Run(t.Context(), c, Options{}, nil); err == nil || !strings.Contains(err.Error(), "--init: "+c.Init+": there is no such") {
		t.Errorf("missing: %v", err)
	}
	c.Init = writeFile(t, "vectors.vec", "2 3\na 1 2 3\nb 4 5 6\n")
	_, err := Run(t.Context(), c, Options{}, nil)
	if !errors.As(err, new(*terminal.UsageError)) || !strings.Contains(err.Error(), "of 3 dimensions, not of 4: add --dim 3") {
		t.Errorf("other dimension: %v", err)
	}
}

// startPairs says what becomes of a run of some encoder in each of startModes, with some --subword, or none: its encoder and words come
// along (+), its words alone (w), its words beside a new network (n), or it is refused (x).
const startPairs = `
	none       -          w w w w w x
	none       none       w w w w x x
	none       ngram      x x x x x x
	none       cnn        n n n x x x
	ngram      -          + + x + x x
	ngram      none       w w w w x x
	ngram      ngram      + + x + x x
	ngram      cnn        x x x x x x
	cnn        -          + + + x x x
	cnn        none       w w w w x x
	cnn        ngram      x x x x x x
	cnn        recurrent  x x x x x x
	recurrent  -          + + + x x x
	recurrent  cnn        x x x x x x
`

var startModes = []string{"cl --model sg", "cl --model cbow", "vanilla", "word2vec", "psgnscc", "glove"}

// startConfig is a tiny run of a mode, with other settings, each by its name and value.
func startConfig(t *testing.T, mode, encoder, text, init string, others ...string) (settings.Config, error) {
	mode, model, _ := strings.Cut(mode, " --model ")
	flags := map[string]string{"mode": mode, "corpus": writeFile(t, "text", text), "out": filepath.Join(t.TempDir(), "run")}
	if init == "" {
		flags["dim"] = "4"
	}
	for name, value := range map[string]string{
		"model": model, "subword": encoder, "init": init, "negative": "2", "sample": "0", "threads": "1", "iterations": "6", "batch": "200", "contexts": "6",
	} {
		s, _ := settings.Find(name)
		takes := s.AppliesTo(mode) && s.AppliesWith(mode, model) || name == "init" || name == "subword"
		if takes && value != "" && (name != "batch" || mode == settings.ModeCL) {
			flags[name] = value
		}
	}
	for pair := range slices.Chunk(others, 2) {
		if flags[pair[0]] = pair[1]; slices.Contains(settings.Lengths, pair[0]) && pair[0] != "iterations" {
			delete(flags, "iterations")
		}
	}
	return settings.Resolve("", flags)
}

// Training goes on from any run in any mode that can, with all that the run has; else it is refused by a reason, not with less than was asked.
func TestInitPairs(t *testing.T) {
	runs := map[string][]string{}
	for encoder, modes := range map[string][]string{
		"none": {"cl --model cbow", "psgnscc", "glove"}, "ngram": {"cl --model cbow", "cl --model sg", "word2vec"},
		"cnn": {"cl --model sg", "vanilla"}, "recurrent": {"cl --model cbow"},
	} {
		for _, mode := range modes {
			asked := encoder
			if mode == "psgnscc" || mode == "glove" {
				asked = ""
			}
			runs[encoder] = append(runs[encoder], startRun(t, mode, asked))
		}
	}
	from := runs["ngram"][0]
	vectors, err := runfolder.LoadVectors(t.Context(), from)
	if err != nil {
		t.Fatal(err)
	}
	model := filepath.Join(t.TempDir(), "model.bin")
	if _, err := runfolder.SaveFastText(t.Context(), model, vectors, from); err != nil {
		t.Fatal(err)
	}
	runs["ngram"] = append(runs["ngram"], model)
	text := strings.ReplaceAll(smallText(), "blue", "greeneo")
	for line := range strings.Lines(strings.TrimSpace(startPairs)) {
		fields := strings.Fields(line)
		encoder, asked := fields[0], strings.Trim(fields[1], "-")
		for i, mode := range startModes {
			for _, run := range runs[encoder] {
				c, err := startConfig(t, mode, asked, text, run)
				if err != nil {
					if what := fields[2+i]; what != "x" || !strings.Contains(err.Error(), "--") {
						t.Errorf("%s with --subword %s to %s: %v, want %s", encoder, asked, mode, err, what)
					}
					continue
				}
				if checkStart(t, c, fields[2+i]); asked == "" {
					checkContinued(t, c)
				}
			}
		}
	}
}

// checkContinued trains a run that goes on from another, also with an interrupt. A word that neither is trained nor has n-grams or a
// network keeps its vector, whatever --context-weight is.
func checkContinued(t *testing.T, c settings.Config) {
	t.Helper()
	c.ContextWeight = 0.7
	var trained Observation
	watched := Options{Observations: 1, Observe: func(o Observation) error {
		trained = o
		trained.Words = slices.Clone(o.Words)
		return nil
	}}
	if _, err := Run(t.Context(), c, watched, nil); err != nil {
		t.Fatal(err)
	}
	checkMean(t, c, trained)
	checkOffset(t, c, trained)
	before, err := runfolder.LoadTable(t.Context(), c.Init)
	after, err2 := runfolder.LoadTable(t.Context(), c.Out)
	if err := cmp.Or(err, err2); err != nil {
		t.Fatal(err)
	}
	was, _ := before.Index("blue")
	is, _ := after.Index("blue")
	if kept := slices.Equal(before.Vector(was), after.Vector(is)); kept == c.HasNetwork() {
		t.Errorf("%s from %s, %s: a word that the text lacks kept its vector: %v", c.Mode, c.Init, c.Subword, kept)
	}
	checkResumed(t, c, hashOf(t, c.Out), nil)
}

// checkMean checks that what is saved is the mean of the start and of what was trained, by the roots of their words; of a new word it is what was trained.
func checkMean(t *testing.T, c settings.Config, trained Observation) {
	t.Helper()
	if c.HasNetwork() {
		return // which is not linear
	}
	from, err := runfolder.LoadStart(t.Context(), c.Init)
	to, err2 := runfolder.LoadStart(t.Context(), c.Out)
	if err := cmp.Or(err, err2); err != nil {
		t.Fatal(err)
	}
	if !c.HasEncoder() {
		from.Mean = nil
	}
	share, n := float32(0.5), c.Dim
	if from.Trained > 0 {
		before, after := math.Sqrt(from.Trained), math.Sqrt(to.Trained-from.Trained)
		share = float32(before / (before + after))
	}
	began, saved := make([]float32, n), make([]float32, n)
	for i, word := range trained.Vocabulary.Words {
		to.Row(saved, slices.Index(to.Vocabulary, word))
		end := trained.Words[i*n:][:n]
		if k := slices.Index(from.Vocabulary, word); k < 0 {
			copy(began, end)
		} else if from.Row(began, k); word == "blue" { // it has its old vector, by another --context-weight
			continue
		}
		for k, x := range saved {
			if d := x - (end[k] + share*(began[k]-end[k])); d > 1e-4 || d < -1e-4 {
				t.Fatalf("%s from %s, %s: %s is saved as %v; it began as %v and ended as %v", c.Mode, c.Init, c.Subword, word, saved, began, end)
			}
		}
	}
}

// checkOffset checks the counts of a continued run, those of both texts, and what unseen words get beside what is composed: what words of
// both have, too, so that nothing is left for these.
func checkOffset(t *testing.T, c settings.Config, trained Observation) {
	t.Helper()
	from, err := runfolder.LoadStart(t.Context(), c.Init)
	to, err2 := runfolder.LoadStart(t.Context(), c.Out)
	if err := cmp.Or(err, err2); err != nil {
		t.Fatal(err)
	}
	counts := slices.Clone(to.Counts)
	for i, word := range to.Vocabulary {
		own, old := trained.Vocabulary.Counts[i], uint64(0)
		k := slices.Index(from.Vocabulary, word)
		if k >= 0 && from.Counts != nil {
			old = from.Counts[k]
		}
		if to.Counts[i] != own+old {
			t.Errorf("%s from %s: %s has count %d, want %d and %d", c.Mode, c.Init, word, to.Counts[i], old, own)
		}
		if k < 0 || own == 0 {
			counts[i] = 0
		}
	}
	if to.Encoder == nil {
		return
	}
	left, err := subword.Offset(to.Encoder, to.Vocabulary, counts, to.Words)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range left {
		if x > 1e-4 || x < -1e-4 {
			t.Fatalf("%s from %s, %s: words that both have lie %v from what is composed", c.Mode, c.Init, c.Subword, left)
		}
	}
}

// checkStart checks what a run starts with: rows of the run before, and a new word that has the mean of the n-grams that are known.
func checkStart(t *testing.T, c settings.Config, what string) {
	t.Helper()
	from, err := runfolder.LoadStart(t.Context(), c.Init)
	if err != nil {
		t.Fatal(err)
	}
	var notes bytes.Buffer
	j := &job{config: c}
	defer j.close()
	if err := cmp.Or(j.prepare(t.Context(), progress.New(&notes)), trainer.Refresh(j.trainer)); err != nil {
		t.Fatal(err)
	}
	said := map[string]string{"+": "comes along, and new words start from what it composes", "n": "; --subword cnn is new", "w": "more"}[what]
	if from.Encoder != nil && what == "w" {
		said, from.Mean = " is left out, as --subword none says", nil
	}
	if said == "" || !strings.Contains(notes.String(), said) || !strings.Contains(notes.String(), "6 words of "+c.Init+", 5 of them in the text, which has 1 more") {
		t.Errorf("%s from %s, %q:\n%s", c.Mode, c.Init, what, &notes)
	}
	words, contexts := j.trainer.Tables()
	near := func(word string, got, want []float32, most float32) {
		for i, x := range got {
			if d := x - want[i]; d > most || d < -most {
				t.Errorf("%s from %s, %s: %s starts at %v, want %v", c.Mode, c.Init, c.Subword, word, got, want)
				return
			}
		}
	}
	row := make([]float32, c.Dim)
	for i, word := range j.text.vocabulary.Words {
		if k := j.start.rows[i]; k >= 0 {
			from.Row(row, k)
			near(word, words[i*c.Dim:][:c.Dim], row, 1e-5)
			near("context "+word, contexts[i*c.Dim:][:c.Dim], from.Contexts[k*c.Dim:], 0)
		}
	}
	grams, ok := j.encoder.(*subword.NGrams)
	if !ok {
		return
	}
	clear(row)
	z, known := make([]float32, c.Dim), float32(0)
	for _, bucket := range grams.Shape().NGrams(nil, "greeneo") {
		if from.Encoder.(subword.NGramRows).NGramRow(bucket, z) {
			known++
			for i, x := range z {
				row[i] += (x - row[i]) / known
			}
			if own := make([]float32, c.Dim); !grams.NGramRow(bucket, own) || !slices.Equal(own, z) {
				t.Errorf("an n-gram starts at %v, want %v", own, z)
			}
		}
	}
	id, _ := j.text.vocabulary.ID("greeneo")
	near("greeneo", words[int(id)*c.Dim:][:c.Dim], row, 1e-5)
}

// startRun trains the run of startConfig, on smallText.
func startRun(t *testing.T, mode, encoder string, others ...string) string {
	t.Helper()
	c, err := startConfig(t, mode, encoder, smallText(), "", others...)
	if err == nil {
		_, err = Run(t.Context(), c, Options{}, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c.Out
}

// Position weights go on from those of --init if the windows are as wide, and start at 1 otherwise. The run says so.
func TestInitPositions(t *testing.T) {
	run := startRun(t, "cl --model positional", "none", "window", "3")
	interrupted, err := startConfig(t, "cl --model positional", "none", smallText(), "", "window", "3")
	if err != nil {
		t.Fatal(err)
	}
	interruptRun(t, interrupted)
	saved, err := embedding.Load(t.Context(), filepath.Join(run, runfolder.PositionsFile))
	if err != nil || strings.Join(saved.Words, " ") != "-3 -2 -1 1 2 3" || slices.Max(saved.Vectors) == 1 {
		t.Fatalf("%+v, %v", saved, err)
	}
	plain := startRun(t, "cl --model cbow", "none")
	for _, test := range []struct {
		model, window, init, note string
		want                      []float32 // nil: whatever the start has
	}{
		{"positional", "3", run, "its position weights come along", saved.Vectors},
		{"positional", "3", interrupted.Out, "its position weights come along", nil},
		{"positional", "2", run, "position weights start at 1", slices.Repeat([]float32{1}, 16)},
		{"positional", "3", plain, "position weights start at 1", slices.Repeat([]float32{1}, 24)},
		{"cbow", "3", run, "its position weights are left out", nil},
	} {
		c, err := startConfig(t, "cl --model "+test.model, "none", smallText(), test.init, "window", test.window)
		if err != nil {
			t.Fatal(err)
		}
		var notes bytes.Buffer
		j := &job{config: c}
		if err := j.prepare(t.Context(), progress.New(&notes)); err != nil {
			t.Fatal(err)
		}
		for _, tensor := range j.trainer.State() {
			if tensor.Name == graph.PositionsTensor && test.want != nil && !slices.Equal(tensor.Data, test.want) {
				t.Errorf("%+v: position weights are %v", test, tensor.Data)
			}
		}
		if !strings.Contains(notes.String(), test.note) {
			t.Errorf("%+v: %s", test, &notes)
		}
		j.close()
	}
}

// With --init-moments the moments of each row come along, and how often it moved; those of new rows are zero.
func TestInitMoments(t *testing.T) {
	for _, test := range []struct{ mode, encoder string }{
		{"cl --model sg", "none"}, {"cl --model sg", "ngram"}, {"cl --model sg", "cnn"}, {"cl --model cbow", "ngram"}, {"cl --model positional", "none"}, {"vanilla", "none"}, {"vanilla", "cnn"},
	} {
		init := startRun(t, test.mode, test.encoder, "checkpoint", "keep")
		for _, text := range []string{smallText(), strings.ReplaceAll(smallText(), "blue", "greeneo")} {
			c, err := startConfig(t, test.mode, "", text, init, "init-moments", "true")
			if err != nil {
				t.Fatal(err)
			}
			j := &job{config: c}
			if err := j.prepare(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			saved := savedTensors(t, filepath.Join(init, runfolder.CheckpointFile))
			for _, tensor := range j.trainer.State() {
				was := saved[slices.IndexFunc(saved, func(s trainer.Tensor) bool { return s.Name == tensor.Name })].Data
				table, _, moment := strings.Cut(tensor.Name, ".")
				want := was
				switch ofWords := table == "words" || table == "contexts"; {
				case !moment && table != "minibatches" || text != smallText() && (table == "parts" || table == "symbols"):
					continue
				case text != smallText() && ofWords:
					want = make([]float32, len(tensor.Data))
					trainer.CopyRows(want, was, j.start.rows)
				}
				if !slices.Equal(tensor.Data, want) {
					t.Errorf("%v: %s is %v, want %v", test, tensor.Name, tensor.Data, want)
				}
			}
			j.close()
			if _, err := Run(t.Context(), c, Options{}, nil); err != nil {
				t.Fatal(err)
			}
			checkResumed(t, c, hashOf(t, c.Out), nil)
		}
	}
}

// Moments that cannot come along are refused by a reason.
func TestInitMomentsRefuses(t *testing.T) {
	kept, without := startRun(t, "cl --model sg", "none", "checkpoint", "keep"), startRun(t, "cl --model sg", "none")
	for _, test := range []struct{ mode, init, optimizer, want string }{
		{"cl --model sg", without, "adam", "kept no moments, which needs --checkpoint keep"},
		{"cl --model sg", writeFile(t, "old.vec", "1 4\nred 1 2 3 4\n"), "adam", "is a file, not a run folder"},
		{"cl --model cbow", kept, "adam", "are of --model sg, not cbow"},
		{"vanilla", kept, "adam", "are of --mode cl, not vanilla"},
		{"cl --model sg", kept, "rmsprop", "are of --optimizer adam, not rmsprop"},
		{"cl --model sg", "", "adam", "needs --init"},
		{"cl --model sg", kept, "sgd", "--optimizer sgd has no moments"},
	} {
		c, err := startConfig(t, test.mode, "none", smallText(), test.init, "init-moments", "true", "optimizer", test.optimizer)
		if err == nil {
			_, err = Run(t.Context(), c, Options{}, nil)
		}
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v", test, err)
		}
	}
}

// What --freeze keeps has the same bits in every file, while new words are trained.
func TestFreeze(t *testing.T) {
	for _, test := range []struct{ encoder, mode, freeze string }{
		{"none", "cl --model cbow", "words"}, {"none", "cl --model positional", "words"}, {"none", "vanilla", "known"}, {"none", "word2vec", "known"},
		{"ngram", "cl --model cbow", "known"}, {"ngram", "cl --model sg", "known"}, {"ngram", "word2vec", "known"}, {"ngram", "word2vec", "parts"},
	} {
		init := startRun(t, "cl --model cbow", test.encoder)
		c, err := startConfig(t, test.mode, "", strings.ReplaceAll(smallText(), "blue", "greeneo"), init, "freeze", test.freeze, "context-weight", ".7")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Run(t.Context(), c, Options{}, nil); err != nil {
			t.Fatal(err)
		}
		from, err := runfolder.LoadStart(t.Context(), init)
		to, err2 := runfolder.LoadStart(t.Context(), c.Out)
		if err := cmp.Or(err, err2); err != nil {
			t.Fatal(err)
		}
		same := slices.Index(to.Vocabulary, "blue") >= 0
		for i, word := range to.Vocabulary {
			k, row := slices.Index(from.Vocabulary, word), to.Contexts[i*c.Dim:][:c.Dim]
			if k < 0 {
				same = same && slices.Max(row) > 0
			} else if c.Freezes(settings.FreezeWords) {
				same = same && slices.Equal(row, from.Contexts[k*c.Dim:][:c.Dim]) && slices.Equal(to.Words[i*c.Dim:][:c.Dim], from.Words[k*c.Dim:][:c.Dim])
			}
			if grams, ok := from.Encoder.(*subword.NGrams); ok {
				was, is := make([]float32, c.Dim), make([]float32, c.Dim)
				same = same && slices.Equal(from.Mean, to.Mean)
				for _, bucket := range grams.Shape().NGrams(nil, word) {
					if grams.NGramRow(bucket, was) {
						grams.NGram(bucket, was) // as a fastText model has it
						to.Encoder.(*subword.NGrams).NGram(bucket, is)
						same = same && slices.Equal(was, is)
					}
				}
			}
		}
		if !same {
			t.Errorf("%v: what is kept has changed, or what is new is not trained", test)
		}
	}
}
