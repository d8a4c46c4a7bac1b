package train

import (
	"bytes"
	"context"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/train/runfolder"
	"github.com/w2vcl/w2vcl/train/settings"
	"github.com/w2vcl/w2vcl/train/trainer"
)

// A seriesTrainer is a fakeTrainer that takes five units at a time. Its tables are
// elsewhere until they are pulled.
type seriesTrainer struct {
	*fakeTrainer
	series []int // sizes
	pulls  []bool
}

func (b *seriesTrainer) SeriesLength() int { return 5 }
func (b *seriesTrainer) AdvanceSeries(ctx context.Context, first int, rates []float64) (reports []trainer.Report, err error) {
	b.series = append(b.series, len(rates))
	for i, rate := range rates {
		r, err := b.Advance(ctx, first+i, rate)
		if err != nil {
			return nil, err
		}
		reports = append(reports, r)
	}
	return reports, nil
}
func (b *seriesTrainer) Pull(everything bool) error {
	b.pulls = append(b.pulls, everything)
	return nil
}
func (b *seriesTrainer) Push()                   {}
func (b *seriesTrainer) Device() (string, int64) { return "none", 0 }

// TestLoopOfSeries: series end where a checkpoint is due, and metrics are those of
// single units, with the time of a series shared among its units.
func TestLoopOfSeries(t *testing.T) {
	metrics, err := runfolder.OpenMetrics(filepath.Join(t.TempDir(), runfolder.MetricsFile), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer metrics.Close()
	f := newFake(17, 1, 1)
	b := &seriesTrainer{fakeTrainer: f}
	f.loss = func(unit int) float64 { return float64(unit) }
	var lines bytes.Buffer
	l := testLoop(f, &lines)
	l.trainer = b
	l.saver = &saver{path: filepath.Join(t.TempDir(), "c", "state.safetensors"), trainer: b, metrics: metrics, every: settings.Interval{Units: 7}}
	got, err := l.run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if want := []int{5, 2, 5, 2, 3}; !slices.Equal(b.series, want) {
		t.Errorf("series of %v units, want %v", b.series, want)
	}
	if !slices.Equal(b.pulls, []bool{true, true}) {
		t.Errorf("state was pulled %v, want twice, with everything", b.pulls)
	}
	if got.Units != 17 || got.Pairs != 170 || got.Words != 1700 {
		t.Errorf("outcome %+v", got)
	}
	for i, unit := range f.advanced {
		if unit != i || f.rates[i] != 1-float64(i)/17 {
			t.Errorf("step %d trained unit %d at rate %v", i, unit, f.rates[i])
		}
	}
	all := readMetrics(t, lines.String())
	if len(all) != 17 {
		t.Fatalf("%d lines of metrics, want 17", len(all))
	}
	// The clock ticks once a block.
	for i, line := range all[:5] {
		if line.Unit != i+1 || line.Loss != float64(i) || math.Abs(line.Seconds-float64(i+1)/5) > 1e-9 || math.Abs(line.WordsPerSecond-500) > 1e-6 {
			t.Errorf("line %d: %+v", i, line)
		}
	}
}

// A loss that is not a number stops the run at its unit, wherever in a block it
// is.
func TestSeriesDiverges(t *testing.T) {
	f := newFake(17, 1, 1)
	f.loss = func(unit int) float64 {
		if unit >= 8 {
			return math.NaN()
		}
		return 1
	}
	l := testLoop(f, nil)
	l.trainer = &seriesTrainer{fakeTrainer: f}
	l.metrics = nil
	if _, err := l.run(t.Context()); !errors.Is(err, ErrDiverged) || !strings.Contains(err.Error(), "NaN at iteration 9 of 17") {
		t.Errorf("error %v", err)
	}
}
