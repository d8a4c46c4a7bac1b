package train

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/w2vcl/w2vcl/train/progress"
	"github.com/w2vcl/w2vcl/train/runfolder"
	"github.com/w2vcl/w2vcl/train/settings"
)

// TestRunSeeds: runs side by side give the vectors of runs alone, also if all of them are interrupted and resumed.
func TestRunSeeds(t *testing.T) {
	for _, mode := range allModes() {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			c := smallConfig(t, mode)
			c.Seed, c.Force = 2, true
			want := vectorsOf(t, c)
			c.Seed, c.Out = 1, t.TempDir()
			second := filepath.Join(c.Out, "seed2")
			var said bytes.Buffer
			var both sync.WaitGroup
			both.Add(2)
			ctx, cancel := context.WithCancel(t.Context())
			interrupt := func(seen Observation) error {
				if seen.Fraction < 1 {
					both.Done()
					both.Wait()
					cancel()
				}
				return nil
			}
			ended := func(_ runfolder.Summary, err error) error { return err }
			for i, o := range []Options{{}, {Observe: interrupt, Observations: 2}} {
				if err := RunSeeds(ctx, c, 3-i, o, progress.New(&said), ended); err != nil && !errors.Is(err, ErrInterrupted) {
					t.Fatal(err)
				}
				if _, err := Resume(t.Context(), nil, second, nil, nil, nil); err != nil && !errors.Is(err, ErrComplete) {
					t.Error(err)
				}
				if !bytes.Equal(vectorsIn(t, second), want) {
					t.Errorf("call %d: other vectors than alone", i)
				}
				if !strings.Contains(said.String(), " at once") {
					if c.FindMode().Family != settings.WholeMatrix {
						t.Errorf("said:\n%s", &said)
					}
					return
				}
			}
		})
	}
}
