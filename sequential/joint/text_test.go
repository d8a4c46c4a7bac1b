package joint_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/sequential/joint"
	"github.com/w2vcl/w2vcl/train/cluster"
)

// randomText has lines of any length, with blank ones, byte order marks, bytes that are not
// UTF-8, and perhaps no line feed at its end.
func randomText(rng *rand.Rand, words int) []byte {
	var b bytes.Buffer
	if rng.IntN(2) == 0 {
		b.WriteString("\ufeff")
	}
	for range words {
		fmt.Fprintf(&b, "w%d", int(60*rng.Float64()*rng.Float64()))
		switch rng.IntN(12) {
		case 0:
			b.WriteString("\n")
		case 1:
			b.WriteString(" \xff\r\n\n")
		case 2:
			b.WriteString("\n\ufeff")
		default:
			b.WriteString(" ")
		}
	}
	return b.Bytes()
}

func write(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// check compares the parts of some ranks with the whole text.
func check(t *testing.T, want *corpus.Corpus, ranks int, path string, o corpus.Options) {
	t.Helper()
	for _, balanced := range []bool{false, true} {
		all := make([]*joint.Part, ranks)
		err := cluster.Run(ranks, func(c cluster.Comm) (err error) {
			if all[c.Rank()], err = joint.Read(t.Context(), c, path, o); err == nil && balanced {
				err = all[c.Rank()].Balance(c)
			}
			return err
		})
		if err != nil {
			t.Fatalf("%d ranks: %v", ranks, err)
		}
		checkParts(t, want, all, o)
		longest := 0
		for i := range len(want.Sentences) - 1 {
			longest = max(longest, want.Sentences[i+1]-want.Sentences[i])
		}
		for rank, s := range all {
			if most := 1.1*float64(len(want.Tokens))/float64(ranks) + float64(longest); balanced && float64(len(s.Tokens)) > most {
				t.Errorf("rank %d of %d has %d tokens, more than %v", rank, ranks, len(s.Tokens), most)
			}
		}
	}
}

func checkParts(t *testing.T, want *corpus.Corpus, all []*joint.Part, o corpus.Options) {
	t.Helper()
	ranks := len(all)
	var tokens []uint32
	sentences := []int{0}
	for rank, s := range all {
		if s.FirstToken != len(tokens) {
			t.Errorf("%d ranks: rank %d begins with token %d, not %d", ranks, rank, s.FirstToken, len(tokens))
		}
		for _, end := range s.Sentences[1:] {
			sentences = append(sentences, len(tokens)+end)
		}
		tokens = append(tokens, s.Tokens...)
		if s.Fingerprint != want.Fingerprint() {
			t.Errorf("%d ranks: rank %d has fingerprint %x, not %x", ranks, rank, s.Fingerprint, want.Fingerprint())
		}
		if !slices.Equal(s.Vocabulary.Words, want.Vocabulary.Words) || !slices.Equal(s.Vocabulary.Counts, want.Vocabulary.Counts) {
			t.Errorf("%d ranks: rank %d has another vocabulary", ranks, rank)
		}
		stats := s.Stats
		stats.Files, stats.Bytes, stats.Types = want.Stats.Files, want.Stats.Bytes, want.Stats.Types
		if o.Vocabulary == nil && s.Stats.Types != want.Stats.Types || stats != want.Stats {
			t.Errorf("%d ranks: rank %d has\n%+v, not\n%+v", ranks, rank, s.Stats, want.Stats)
		}
	}
	if !slices.Equal(tokens, want.Tokens) || !slices.Equal(sentences, want.Sentences) {
		t.Errorf("%d ranks: the tokens or sentences differ", ranks)
	}
}

// TestRead: the parts of any number of ranks are the text, wherever it is cut.
func TestRead(t *testing.T) {
	rng := rand.New(rand.NewPCG(rand.Uint64(), 1))
	for range 8 {
		dir := filepath.Join(t.TempDir(), "text")
		for f := range 1 + rng.IntN(4) {
			text := randomText(rng, 1+rng.IntN(600))
			if rng.IntN(4) == 0 {
				var packed bytes.Buffer
				z := gzip.NewWriter(&packed)
				_, _ = z.Write(text)
				_ = z.Close()
				text = packed.Bytes()
			}
			write(t, filepath.Join(dir, fmt.Sprintf("%d.txt", f)), text)
		}
		o := corpus.Options{MinCount: 1 + rng.IntN(4), MaxSentence: 3 + rng.IntN(9), MaxWords: rng.IntN(2) * 20, Threads: 2}
		want, err := corpus.Open(t.Context(), dir, o, corpus.Storage{})
		if errors.Is(err, corpus.ErrMinCount) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, ranks := range []int{1, 2, 3, 5, 9} {
			check(t, want, ranks, dir, o)
		}
		o.Vocabulary = &corpus.Vocabulary{Words: []string{"w1", "w0", "absent", "w5"}, Counts: []uint64{9, 5, 2, 1}}
		if want, err = corpus.Open(t.Context(), dir, o, corpus.Storage{}); err == nil {
			check(t, want, 3, dir, o)
		}
	}
}

// TestBlankPart: lines of a part without words count.
func TestBlankPart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "text")
	write(t, path, []byte("a b\n\n\n\n\n"))
	want, err := corpus.Open(t.Context(), path, corpus.Options{}, corpus.Storage{})
	if err != nil {
		t.Fatal(err)
	}
	check(t, want, 4, path, corpus.Options{})
}

// TestTextOfEachRank: {rank} in the path gives each rank a text.
func TestTextOfEachRank(t *testing.T) {
	rng := rand.New(rand.NewPCG(rand.Uint64(), 2))
	dir := t.TempDir()
	for r := range 3 {
		write(t, filepath.Join(dir, fmt.Sprint(r), "text"), randomText(rng, 200))
	}
	want, err := corpus.Open(t.Context(), dir, corpus.Options{}, corpus.Storage{})
	if err != nil {
		t.Fatal(err)
	}
	check(t, want, 3, filepath.Join(dir, joint.OfRank), corpus.Options{})
	err = cluster.Run(4, func(c cluster.Comm) error {
		_, err := joint.Read(t.Context(), c, filepath.Join(dir, joint.OfRank), corpus.Options{})
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "rank 3: ") {
		t.Errorf("rank 3 has no text, and Read says %v", err)
	}
}

func TestReadErrors(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty")
	write(t, empty, []byte("\n \n"))
	rare := filepath.Join(t.TempDir(), "rare")
	write(t, rare, []byte("a b\nc d\n"))
	for _, test := range []struct {
		path string
		o    corpus.Options
		want error
	}{
		{empty, corpus.Options{}, corpus.ErrEmpty},
		{rare, corpus.Options{MinCount: 2}, corpus.ErrMinCount},
	} {
		err := cluster.Run(2, func(c cluster.Comm) error {
			_, err := joint.Read(t.Context(), c, test.path, test.o)
			return err
		})
		if !errors.Is(err, test.want) {
			t.Errorf("%s: %v, not %v", test.path, err, test.want)
		}
	}
	for path, o := range map[string]corpus.Options{"-": {}, rare: {JoinLines: true}} {
		err := cluster.Run(2, func(c cluster.Comm) error {
			_, err := joint.Read(t.Context(), c, path, o)
			return err
		})
		if err == nil || !strings.Contains(err.Error(), "several ranks cannot share") {
			t.Errorf("%s: %v", path, err)
		}
	}
}
