package train

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/embedding"
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
		c.Corpus, c.Init, c.ContextWeight = text, init, first.ContextWeight
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

		want := hashOf(t, c.Out)
		c.Out = filepath.Join(t.TempDir(), "run")
		interruptRun(t, c)
		if _, err := Resume(t.Context(), nil, c.Out, nil, nil, nil); err != nil {
			t.Fatal(err)
		}
		if hashOf(t, c.Out) != want {
			t.Errorf("from %s, resumed: other vectors", init)
		}
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

// Modes cl and vanilla go on from vectors, too: each word of the text that has some
// starts there, contexts included, and the others as usual.
func TestInitOfGraphs(t *testing.T) {
	first := smallConfig(t, settings.ModeCL)
	if _, err := Run(t.Context(), first, Options{}, nil); err != nil {
		t.Fatal(err)
	}
	run, err := runfolder.Open(first.Out)
	if err != nil {
		t.Fatal(err)
	}
	old, err := run.Tables(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	table, err := embedding.NewTable(old.Vocabulary, first.Dim, old.Words)
	if err != nil {
		t.Fatal(err)
	}
	exported := filepath.Join(t.TempDir(), "old.vec")
	if err := embedding.Save(exported, table, embedding.Word2VecText); err != nil {
		t.Fatal(err)
	}
	lost := old.Vocabulary[0]
	text := writeFile(t, "new", strings.ReplaceAll(smallText(), lost, "newcomer"))
	for _, mode := range []string{settings.ModeCL, settings.ModeVanilla, onStretches} {
		for _, init := range []string{first.Out, exported} {
			c := longerConfig(t, mode)
			c.Corpus, c.Init, c.ContextWeight = text, init, 1
			c.LR, c.LREnd = 1e-30, 0 // what is exported is the start
			var notes bytes.Buffer
			if _, err := Run(t.Context(), c, Options{}, progress.New(&notes)); err != nil {
				t.Fatal(err)
			}
			if want := "5 of the 6 words of the text are in " + init + ", the others start anew; 1 of its words are not in the text"; !strings.Contains(notes.String(), want) {
				t.Errorf("%s: no word of %q:\n%s", mode, want, &notes)
			}
			got, err := embedding.Load(t.Context(), filepath.Join(c.Out, runfolder.VectorsFile))
			if err != nil {
				t.Fatal(err)
			}
			fresh := make([]float32, len(got.Vectors))
			trainer.Randomize(fresh, c.Dim, c.Seed)
			for i, word := range got.Words {
				want := slices.Clone(fresh[i*c.Dim:][:c.Dim])
				if row := slices.Index(old.Vocabulary, word); row >= 0 {
					copy(want, old.Words[row*c.Dim:])
					for j := range want {
						if init == first.Out { // a file has no contexts
							want[j] += old.Contexts[row*c.Dim+j]
						}
					}
				} else if word != "newcomer" {
					t.Errorf("%s: a word %s", mode, word)
				}
				for j, x := range got.Vector(i) {
					if d := x - want[j]; d > 1e-6 || d < -1e-6 {
						t.Fatalf("%s from %s: %s starts at %v, want %v", mode, init, word, got.Vector(i), want)
					}
				}
			}

			c.LR = 0.01
			c.Out = filepath.Join(t.TempDir(), "run")
			if _, err := Run(t.Context(), c, Options{}, nil); err != nil {
				t.Fatal(err)
			}
			want := hashOf(t, c.Out)
			c.Out = filepath.Join(t.TempDir(), "run")
			interruptRun(t, c)
			if _, err := Resume(t.Context(), nil, c.Out, nil, nil, nil); err != nil {
				t.Fatal(err)
			}
			if hashOf(t, c.Out) != want {
				t.Errorf("%s from %s, resumed: other vectors", mode, init)
			}
		}
	}
}

// With an encoder given vectors are the start of words' own; spelling starts anew.
func TestInitOfEncoders(t *testing.T) {
	first := smallConfig(t, settings.ModeCL)
	if _, err := Run(t.Context(), first, Options{}, nil); err != nil {
		t.Fatal(err)
	}
	old, err := runfolder.LoadTables(t.Context(), first.Out)
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range graphModes {
		c := subwordConfig(t, mode, "cnn")
		c.Init, c.ContextWeight = first.Out, 0
		c.LR, c.LREnd = 1e-30, 0 // what is exported is the start
		if _, err := Run(t.Context(), c, Options{}, nil); err != nil {
			t.Fatal(err)
		}
		got, err := embedding.Load(t.Context(), filepath.Join(c.Out, runfolder.VectorsFile))
		if err != nil {
			t.Fatal(err)
		}
		encoder, err := subword.Load(filepath.Join(c.Out, runfolder.EncoderFile))
		if err != nil {
			t.Fatal(err)
		}
		composed, offset := make([]float32, len(got.Vectors)), make([]float32, c.Dim) // what is composed has an offset, the same of all words
		if err := encoder.Encode(got.Words, composed); err != nil {
			t.Fatal(err)
		}
		for i, word := range got.Words {
			want := old.Words[slices.Index(old.Vocabulary, word)*c.Dim:][:c.Dim]
			for j, x := range got.Vector(i) {
				d := x - composed[i*c.Dim+j] - want[j]
				if i == 0 {
					offset[j] = d
				}
				if d -= offset[j]; d > 1e-5 || d < -1e-5 {
					t.Fatalf("%s: %s starts at %v, want %v", mode, word, got.Vector(i), want)
				}
			}
		}
		c.LR = 0.01
		c.Out = filepath.Join(t.TempDir(), "run")
		if _, err := Run(t.Context(), c, Options{}, nil); err != nil {
			t.Fatal(err)
		}
		trained := hashOf(t, c.Out)
		c.Out = filepath.Join(t.TempDir(), "run")
		interruptRun(t, c)
		if _, err := Resume(t.Context(), nil, c.Out, nil, nil, nil); err != nil {
			t.Fatal(err)
		}
		if hashOf(t, c.Out) != trained {
			t.Errorf("%s, resumed: other vectors", mode)
		}
		c.Compose = "spelling"
		if err := c.Validate(); !errors.As(err, new(*terminal.UsageError)) || !strings.Contains(err.Error(), "--subword cnn composes vectors, so") {
			t.Errorf("%s, spelling alone: error %v", mode, err)
		}
	}
}
