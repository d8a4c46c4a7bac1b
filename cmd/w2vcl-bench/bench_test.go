package main

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/w2vcl/w2vcl/cmd/internal/cli"
	"github.com/w2vcl/w2vcl/cmd/internal/clitest"
	"github.com/w2vcl/w2vcl/optim"
)

func TestMain(m *testing.M) { clitest.Main(m, "w2vcl-bench", main) }

func TestScript(t *testing.T) { clitest.Scripts(t) }

func TestCommandFiles(t *testing.T) { clitest.CheckFiles(t, newRoot(cli.Streams{}), commandFiles) }

func TestDocumentsNameWhatThereIs(t *testing.T) { clitest.CheckDocuments(t, newRoot(cli.Streams{})) }

func TestStepBytes(t *testing.T) {
	for _, c := range []struct {
		stepCase
		want int64
	}{
		{stepCase{18498, 500, 5, optim.Adam, 1}, 12 * 18498 * 500 * 4},
		{stepCase{18498, 500, 5, optim.AdamRow, 1}, 10*18498*500*4 + 8*18498},
		{stepCase{18498, 500, 5, optim.SGD, 1}, 8 * 18498 * 500 * 4},
		{stepCase{200000, 500, 10, optim.Adam, 1}, 17 * 200000 * 500 * 4}, // more than 32 bits
	} {
		if got := c.stepBytes(); got < c.want || got > c.want+c.want/100 { // moments take whole large pages
			t.Errorf("%+v: %d bytes", c, got)
		}
	}
}

func TestMeasured(t *testing.T) {
	if got, want := measured([]float64{9, 1, 2}), (measurement{2, 1, 9}); got != want {
		t.Errorf("%+v", got)
	}
	if got, want := measured([]float64{4, 3, 2, 1}), (measurement{2.5, 1, 4}); got != want || got.spread() != 1.2 {
		t.Errorf("%+v", got)
	}
}

// TestCopierCopiesAll: every value arrives, whatever the threads and pieces.
func TestCopierCopiesAll(t *testing.T) {
	for _, n := range []int{1, 2, 63, 64, 65, 1000} {
		for _, threads := range []int{1, 2, 3, 7} {
			for _, piece := range []int{1, 5, 64, n} {
				c := newCopier(int64(8*n), threads)
				for i := range c.from {
					if c.from[i] != 1 {
						t.Fatalf("value %d of %d was not touched by %d threads", i, n, threads)
					}
					c.from[i] = float32(i + 2)
				}
				c.copy(threads, piece)
				if !slices.Equal(c.from, c.to) {
					t.Errorf("%d values, %d threads, pieces of %d: not all were copied", n, threads, piece)
				}
			}
		}
	}
}

func TestMeasureStep(t *testing.T) {
	text, err := newText(t.Context(), 60, 1)
	if err != nil {
		t.Fatal(err)
	}
	copier := newCopier(1<<16, 1)
	for _, c := range []stepCase{{60, 16, 5, optim.Adam, 1}, {60, 8, 2, optim.SGD, 2}} {
		r, err := measureStep(t.Context(), c, text, copier, 2, 0)
		// The tables begin with a loss of log 2 and stay there.
		if err != nil || r.seconds.least <= 0 || r.copied.least <= 0 || math.Abs(r.loss-math.Ln2) > 1e-3 {
			t.Errorf("%+v: %v", r, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := measureStep(ctx, stepCase{60, 4, 2, optim.SGD, 1}, text, copier, 1, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
