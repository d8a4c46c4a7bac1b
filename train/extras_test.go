package train

import (
	"bytes"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/sequential"
	"github.com/w2vcl/w2vcl/train/runfolder"
	"github.com/w2vcl/w2vcl/train/settings"
	"github.com/w2vcl/w2vcl/train/trainer"
)

// TestLoopObserves looks at the marks of a run, at what the clock says, and at
// the same from a resumed position. Metrics have the scores.
func TestLoopObserves(t *testing.T) {
	for _, from := range []int{0, 4, 5} {
		f := newFake(10, 1, 1)
		var metrics bytes.Buffer
		l := testLoop(f, &metrics)
		l.from.Units = from
		l.observations = 4
		var units []int
		l.observe = func(p runfolder.Position, fraction float64) (map[string]float64, error) {
			if want := float64(p.Units) / 10; fraction != want {
				t.Errorf("fraction %v after %d units, want %v", fraction, p.Units, want)
			}
			units = append(units, p.Units)
			return map[string]float64{"set": fraction}, nil
		}
		if _, err := l.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := map[int][]int{0: {3, 5, 8, 10}, 4: {5, 8, 10}, 5: {8, 10}}[from]
		if !slices.Equal(units, want) {
			t.Errorf("from %d: observed after units %v, want %v", from, units, want)
		}
		for _, line := range readMetrics(t, metrics.String()) {
			if slices.Contains(want, line.Unit) != (line.Scores["set"] == line.Fraction) {
				t.Errorf("from %d: a line %+v", from, line)
			}
		}
	}
}

// TestScoresEndLines: scores end a line of metrics.
func TestScoresEndLines(t *testing.T) {
	lines := func(scores map[string]float64) (units []int) {
		var metrics bytes.Buffer
		l := testLoop(newFake(700, 1, 1), &metrics) // a line of four units
		l.observations = 4
		l.observe = func(runfolder.Position, float64) (map[string]float64, error) { return scores, nil }
		if _, err := l.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, line := range readMetrics(t, metrics.String()) {
			units = append(units, line.Unit)
		}
		return units
	}
	without, with := lines(nil), lines(map[string]float64{"set": 0.5})
	if slices.Contains(without, 175) || !slices.Contains(with, 175) || len(with) != len(without)+1 {
		t.Errorf("lines after %v, without scores %v", with, without)
	}
}

// TestObservingIsNotTraining counts the calls of the clock: the one that an
// observation begins with does not count as training.
func TestObservingIsNotTraining(t *testing.T) {
	seconds := func(observations int) float64 {
		l := testLoop(newFake(8, 1, 1), &bytes.Buffer{})
		l.observations = observations
		l.observe = func(runfolder.Position, float64) (map[string]float64, error) { return nil, nil }
		result, err := l.run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return result.Seconds
	}
	// Each of the seven observations before the last unit asks the clock twice,
	// a second apart, and takes one of the two seconds back.
	if without, with := seconds(0), seconds(8); with != without+7 {
		t.Errorf("%v seconds of training with observations, %v without", with, without)
	}
}

func TestObserverFailureEndsTheRun(t *testing.T) {
	l := testLoop(newFake(8, 1, 1), &bytes.Buffer{})
	failure := errors.New("no room")
	l.observations, l.observe = 2, func(runfolder.Position, float64) (map[string]float64, error) { return nil, failure }
	if _, err := l.run(t.Context()); !errors.Is(err, failure) {
		t.Errorf("error %v, want %v", err, failure)
	}
}

// TestLoopLimits ends a run of endless units by its pairs or its seconds: the
// learning rate decays over them and metrics come at equal steps.
func TestLoopLimits(t *testing.T) {
	for name, limit := range map[string]limit{
		"pairs":              {trainer.BudgetPairs, 400 * fakePairs},
		"words":              {trainer.BudgetWords, 400 * 3},
		"seconds":            {trainer.BudgetSeconds, 400},
		"a third of a unit":  {trainer.BudgetWords, 400*3 + 1},
		"two thirds missing": {trainer.BudgetSeconds, 399.67},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(1<<20, 1, 1)
			var metrics bytes.Buffer
			l := testLoop(f, &metrics)
			l.limit, l.wordsPerUnit = limit, 3
			result, err := l.run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if result.Units != 400 || result.Interrupted {
				t.Errorf("%d units, interrupted %v; want 400, false", result.Units, result.Interrupted)
			}
			if got, want := f.rates[200], 0.5; math.Abs(got-want) > 1e-3 {
				t.Errorf("learning rate %v half-way, want %v", got, want)
			}
			if lines := readMetrics(t, metrics.String()); len(lines) != runfolder.MetricsPerRun {
				t.Errorf("%d lines of metrics, want %d", len(lines), runfolder.MetricsPerRun)
			}
		})
	}
}

// TestSharedText trains two modes on a text read once, observed, and compares
// with a run that reads the text itself.
func TestSharedText(t *testing.T) {
	for _, mode := range []string{settings.ModeCL, onStretches, string(sequential.Word2Vec)} {
		c := longerConfig(t, mode)
		c.Threads = 1
		want := hashOfRun(t, c)
		text, err := ReadText(t.Context(), c, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		c.Out = filepath.Join(t.TempDir(), "shared")
		var last float32
		var seen int
		x := Options{Text: text, Observations: 3, Observe: func(o Observation) error {
			table, err := o.Vectors()
			if err != nil {
				return err
			}
			seen++
			last = table.Vector(0)[0]
			return nil
		}}
		summary, err := Run(t.Context(), c, x, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := hashOf(t, c.Out); got != want {
			t.Errorf("mode %s: other vectors on a shared text", mode)
		}
		if seen != 3 {
			t.Errorf("mode %s: %d observations, want 3", mode, seen)
		}
		checkFirstValue(t, c.Out, last)
		if summary.Memory.Tables != int64(4*c.Dim*(2*summary.Vocab+c.Positions())) {
			t.Errorf("mode %s: %d bytes of tables", mode, summary.Memory.Tables)
		}
	}
}

func checkFirstValue(t *testing.T, out string, want float32) {
	t.Helper()
	start, err := runfolder.LoadStart(t.Context(), filepath.Join(out, runfolder.VectorsFile))
	if err != nil {
		t.Fatal(err)
	}
	if start.Words[0] != want {
		t.Errorf("the last observation saw %v, the run saved %v", want, start.Words[0])
	}
}

func TestReadTextReportsErrors(t *testing.T) {
	c := settings.Defaults("", "", "", "")
	c.Corpus = "text"
	if _, err := ReadText(t.Context(), c, strings.NewReader(""), nil); err == nil {
		t.Error("an empty text was read without an error")
	}
}
