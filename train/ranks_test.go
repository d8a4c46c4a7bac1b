package train

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/train/cluster"
	"github.com/w2vcl/w2vcl/train/progress"
	"github.com/w2vcl/w2vcl/train/settings"
)

// onRanks runs lead on rank 0 of so many, and Follow on the others with the settings of own
// and the context of theirs.
func onRanks(t *testing.T, n int, c settings.Config, lead func(g *cluster.Group) error, own func(rank int, c settings.Config, g *cluster.Group) settings.Config, theirs context.Context) error {
	t.Helper()
	return cluster.Run(n, func(comm cluster.Comm) error {
		g := &cluster.Group{Comm: comm}
		if comm.Rank() == 0 {
			return lead(g)
		}
		err := Follow(theirs, own(comm.Rank(), c, g), Options{Ranks: g})
		if known := (*cluster.RankError)(nil); errors.As(err, &known) && g.Ended {
			return nil // rank 0 tells
		}
		return err
	})
}

// refusedOnRanks runs on so many ranks, which ends with an error that says want. No rank waits for another.
func refusedOnRanks(t *testing.T, n int, c settings.Config, own func(rank int, c settings.Config, g *cluster.Group) settings.Config, want string) {
	t.Helper()
	err := onRanks(t, n, c, func(g *cluster.Group) error {
		_, err := Run(t.Context(), c, Options{Ranks: g}, nil)
		if err != nil && !g.Ended {
			t.Error("other ranks wait")
		}
		return err
	}, own, t.Context())
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}

func same(_ int, c settings.Config, _ *cluster.Group) settings.Config { return c }

// received are the settings that rank 0 sends in resume.
func received(_ int, _ settings.Config, g *cluster.Group) settings.Config {
	c, err := Receive(g)
	if err != nil {
		panic(err)
	}
	return c
}

// interruptOn trains on so many ranks until one is told to stop.
func interruptOn(t *testing.T, n int, c settings.Config) {
	t.Helper()
	theirs, cancel := context.WithCancel(t.Context())
	defer cancel()
	p := progress.New(cancelWriter{io.Discard, cancel})
	p.Every = 0
	err := onRanks(t, n, c, func(g *cluster.Group) error {
		ctx := t.Context()
		if n == 1 {
			ctx = theirs
		}
		_, err := Run(ctx, c, Options{NoPlan: true, Ranks: g}, p)
		if g.Ended != (err == nil || errors.Is(err, ErrInterrupted)) {
			t.Errorf("%d ranks: ended %v, %v", n, g.Ended, err)
		}
		if errors.Is(err, ErrInterrupted) {
			return nil
		}
		return errors.Join(errors.New("the run was not interrupted"), err)
	}, same, theirs)
	if err != nil {
		t.Fatalf("%d ranks: %v", n, err)
	}
}

// resumeOn goes on with the run on so many ranks; 0: in a single process.
func resumeOn(t *testing.T, n int, c settings.Config) {
	t.Helper()
	resume := func(g *cluster.Group) error {
		_, err := Resume(t.Context(), g, c.Out, nil, nil, nil)
		return err
	}
	var err error
	if n == 0 {
		err = resume(nil)
	} else {
		err = onRanks(t, n, c, resume, received, t.Context())
	}
	if err != nil {
		t.Fatalf("resumed on %d ranks: %v", n, err)
	}
}

// TestRanksErrors: an error names the rank and what differs, and no rank waits for another.
func TestRanksErrors(t *testing.T) {
	taken := filepath.Join(t.TempDir(), "run")
	if err := os.MkdirAll(filepath.Join(taken, "mine"), 0o755); err != nil {
		t.Fatal(err)
	}
	other := writeFile(t, "text", smallText()+"one more line\n")
	for name, test := range map[string]struct {
		want   string
		change func(c *settings.Config)                             // of all
		own    func(rank int, c *settings.Config, g *cluster.Group) // of a rank
	}{
		"settings": {want: "rank 2: the settings differ from those of rank 0: --dim 44, not --dim 40", own: func(rank int, c *settings.Config, _ *cluster.Group) { c.Dim += 2 * (rank &^ 1) * (rank / 2) }},
		"text":     {want: "rank 1: the settings differ from those of rank 0: --corpus", own: func(_ int, c *settings.Config, _ *cluster.Group) { c.Corpus = other }},
		"missing": {want: "rank 1: corpus: ", change: func(c *settings.Config) {
			text := c.Corpus
			c.Corpus = filepath.Join(filepath.Dir(text), "{rank}")
			if err := os.Rename(text, filepath.Join(filepath.Dir(text), "0")); err != nil {
				t.Fatal(err)
			}
		}},
		"folder": {want: taken, change: func(c *settings.Config) { c.Out = taken }},
		"cl":     {want: "--mode cl on CPUs: take a sentence-ordered mode, such as fullw2v, or --mode cl --preset paper on GPUs", change: func(c *settings.Config) { c.Mode = settings.ModeCL }},
		"mode":   {want: "--mode vanilla: take a sentence-ordered mode", change: func(c *settings.Config) { c.Mode = "vanilla" }},
		"start":  {want: "--init", change: func(c *settings.Config) { c.Init = "v" }},
		"graph":  {want: "--graph: write the walks", change: func(c *settings.Config) { c.Corpus, c.Graph = "", c.Corpus }},
		"cache":  {want: "--cache", change: func(c *settings.Config) { c.Cache = "c" }},
	} {
		t.Run(name, func(t *testing.T) {
			c := smallConfig(t, "fullw2v")
			c.Dim = 40
			if test.change != nil {
				test.change(&c)
			}
			own := func(rank int, c settings.Config, g *cluster.Group) settings.Config {
				if test.own != nil {
					test.own(rank, &c, g)
				}
				return c
			}
			refusedOnRanks(t, 3, c, own, test.want)
			if exists(c.Out+".partial") && name != "folder" {
				t.Error("a folder is left")
			}
		})
	}
}

// TestRanksInTextOrder: a run of a sentence-ordered mode is stopped, and goes on to the bits of one that was not; with another number of
// ranks it does not go on.
func TestRanksInTextOrder(t *testing.T) {
	for _, subword := range []bool{false, true} {
		c := smallConfig(t, "pword2vec")
		if subword {
			c = subwordConfig(t, "fullw2v", "ngram")
		}
		testRanksInTextOrder(t, c)
	}
}

func testRanksInTextOrder(t *testing.T, c settings.Config) {
	c.Threads, c.Sync, c.Epochs, c.Checkpoint = 1, 700, 6, settings.Interval{Units: 3}
	run := func(g *cluster.Group) error {
		s, err := Run(t.Context(), c, Options{NoPlan: true, Ranks: g}, nil)
		if s.Ranks != 3 {
			t.Errorf("the summary has %d ranks", s.Ranks)
		}
		return err
	}
	if err := onRanks(t, 3, c, run, same, t.Context()); err != nil {
		t.Fatal(err)
	}
	want := vectorsIn(t, c.Out)
	c.Out += "2"
	interruptOn(t, 3, c)
	resume := func(g *cluster.Group) error {
		_, err := Resume(t.Context(), g, c.Out, nil, nil, nil)
		return err
	}
	two := func(comm cluster.Comm) error {
		g := &cluster.Group{Comm: comm}
		if comm.Rank() == 0 {
			return resume(g)
		}
		_, _ = Receive(g)
		return nil
	}
	if err := cluster.Run(2, two); err == nil || !strings.Contains(err.Error(), "trained on 3 ranks until now, not on 2") {
		t.Errorf("2 ranks: %v", err)
	}
	if err := resume(nil); err == nil || !strings.Contains(err.Error(), "not on 1") {
		t.Errorf("one process: %v", err)
	}
	resumeOn(t, 3, c)
	if !slices.Equal(vectorsIn(t, c.Out), want) {
		t.Error("other vectors after a stop")
	}
}
