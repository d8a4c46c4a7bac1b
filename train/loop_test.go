package train

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/w2vcl/w2vcl/train/progress"
	"github.com/w2vcl/w2vcl/train/runfolder"
	"github.com/w2vcl/w2vcl/train/trainer"
)

// A fakeTrainer is a trainer whose every unit takes the same made-up time and
// adds its number to the tables.
type fakeTrainer struct {
	units    int
	loss     func(unit int) float64 // nil: 1 per pair
	ready    error                  // of Ready
	fail     map[int]error
	hook     func(ctx context.Context, unit int)
	w, c     []float32
	advanced []int
	rates    []float64
	closed   int
}

func newFake(units, words, dim int) *fakeTrainer {
	return &fakeTrainer{units: units, w: make([]float32, words*dim), c: make([]float32, words*dim)}
}

const fakePairs = 10

func (f *fakeTrainer) Ready() error { return f.ready }
func (f *fakeTrainer) Units() int   { return f.units }
func (f *fakeTrainer) Advance(ctx context.Context, unit int, rate float64) (trainer.Report, error) {
	if f.hook != nil {
		f.hook(ctx, unit)
	}
	if err := ctx.Err(); err != nil {
		return trainer.Report{}, err
	}
	if err := f.fail[unit]; err != nil {
		return trainer.Report{}, err
	}
	f.advanced = append(f.advanced, unit)
	f.rates = append(f.rates, rate)
	for i := range f.w {
		f.w[i]++
		f.c[i] += 0.5
	}
	loss := 1.0
	if f.loss != nil {
		loss = f.loss(unit)
	}
	return trainer.Report{Loss: loss * fakePairs, Pairs: fakePairs}, nil
}
func (f *fakeTrainer) Tables() (words, contexts []float32) { return f.w, f.c }
func (f *fakeTrainer) State() []trainer.Tensor {
	return []trainer.Tensor{{Name: "w", Data: f.w}, {Name: "c", Data: f.c}}
}
func (f *fakeTrainer) Reset()       { clear(f.w); clear(f.c) }
func (f *fakeTrainer) DOT() string  { return "digraph { w }" }
func (f *fakeTrainer) Close() error { f.closed++; return nil }

// fakeClock advances by a second each time it is asked.
func fakeClock() func() time.Time {
	now := time.Unix(0, 0)
	return func() time.Time {
		now = now.Add(time.Second)
		return now
	}
}

func testLoop(f *fakeTrainer, metrics *bytes.Buffer) *loop {
	return &loop{
		trainer: f, unitName: "iteration", wordsPerUnit: 100, metrics: metrics, now: fakeClock(),
		rate: func(unit int) float64 { return 1 - float64(unit)/float64(f.units) },
	}
}

func readMetrics(t *testing.T, text string) []runfolder.Metric {
	t.Helper()
	var metrics []runfolder.Metric
	for line := range strings.Lines(text) {
		var m runfolder.Metric
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		metrics = append(metrics, m)
	}
	return metrics
}

func TestLoopTrainsEveryUnitOnce(t *testing.T) {
	f := newFake(5, 2, 2)
	f.loss = func(unit int) float64 { return float64(unit) }
	var metrics bytes.Buffer
	got, err := testLoop(f, &metrics).run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got.Units != 5 || got.Interrupted || got.Words != 500 || got.Pairs != 50 || got.Last.Loss != 4 {
		t.Errorf("outcome %+v", got)
	}
	for i, unit := range f.advanced {
		if unit != i || f.rates[i] != 1-float64(i)/5 {
			t.Errorf("step %d trained unit %d at rate %v", i, unit, f.rates[i])
		}
	}
	lines := readMetrics(t, metrics.String())
	if len(lines) != 5 {
		t.Fatalf("%d lines of metrics, want 5", len(lines))
	}
	// The clock ticks a second a unit: 100 words and 10 pairs a second.
	if want := (runfolder.Metric{Unit: 3, Seconds: 3, Loss: 2, LR: 0.6, WordsPerSecond: 100, PairsPerSecond: 10, Fraction: 0.6}); !reflect.DeepEqual(lines[2], want) {
		t.Errorf("third line %+v, want %+v", lines[2], want)
	}
}

func TestLoopGathersMetrics(t *testing.T) {
	f := newFake(1001, 1, 1) // 6 units a line, the last line has 5
	f.loss = func(unit int) float64 { return float64(unit % 6) }
	var metrics bytes.Buffer
	got, err := testLoop(f, &metrics).run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	lines := readMetrics(t, metrics.String())
	if len(lines) != 167 || lines[0].Unit != 6 || lines[166].Unit != 1001 {
		t.Fatalf("%d lines, first %+v, last %+v", len(lines), lines[0], lines[len(lines)-1])
	}
	if lines[0].Loss != 2.5 || lines[166].Loss != 2 || got.Last.Loss != 2 {
		t.Errorf("loss of first line %v, of last line %v, of outcome %v", lines[0].Loss, lines[166].Loss, got.Last.Loss)
	}
}

// The first units tell the speed of training: for a while, and without the very first
// one, which is slower, unless there is no other.
func TestLoopMeasuresItself(t *testing.T) {
	for _, test := range []struct {
		units   int
		from    int
		step    time.Duration // of the clock, which is asked once a unit
		after   int           // units
		perUnit float64
	}{
		{100, 0, time.Second, 2, 1},
		{100, 0, 110 * time.Millisecond, 4, 0.11},
		{100, 0, 10 * time.Millisecond, 21, 0.01},
		{100, 60, 10 * time.Millisecond, 81, 0.01},
		{8, 0, 10 * time.Millisecond, 8, 0.01},
		{1, 0, 10 * time.Millisecond, 1, 0.01},
		{100, 99, 10 * time.Millisecond, 100, 0.01},
	} {
		f := newFake(test.units, 1, 1)
		l := testLoop(f, new(bytes.Buffer))
		l.from = runfolder.Position{Units: test.from, Seconds: 1000}
		now := time.Unix(0, 0)
		l.now = func() time.Time {
			now = now.Add(test.step)
			return now
		}
		calls := 0
		l.announce = func(perUnit, pairs float64) {
			calls++
			if after := test.from + len(f.advanced); after != test.after || math.Abs(perUnit-test.perUnit) > 1e-6 || pairs != fakePairs {
				t.Errorf("%+v: announced after %d units: %v seconds, %v pairs", test, after, perUnit, pairs)
			}
		}
		if _, err := l.run(t.Context()); err != nil || calls != 1 {
			t.Errorf("%+v: %d announcements, %v", test, calls, err)
		}
	}
}

// TestLoopLeavesLongUnit: a unit that takes too long after an interrupt is given up.
func TestLoopLeavesLongUnit(t *testing.T) {
	patience = time.Millisecond
	defer func() { patience = 5 * time.Second }()
	ctx, cancel := context.WithCancel(t.Context())
	f := newFake(3, 1, 1)
	f.hook = func(unit context.Context, _ int) {
		cancel()
		<-unit.Done()
	}
	if _, err := testLoop(f, nil).run(ctx); !errors.Is(err, ErrInterrupted) || !strings.Contains(err.Error(), "1, which takes longer than") {
		t.Error(err)
	}
}

func TestLoopInterruptedAtTheEndIsComplete(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	f := newFake(3, 1, 1)
	f.hook = func(_ context.Context, unit int) {
		if unit == 2 {
			cancel()
		}
	}
	got, err := testLoop(f, &bytes.Buffer{}).run(ctx)
	if err != nil || got.Interrupted || got.Units != 3 {
		t.Errorf("outcome %+v, %v", got, err)
	}
}

func TestLoopStopsWhenTheLossIsNoNumber(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		f := newFake(10, 1, 1)
		f.loss = func(unit int) float64 {
			if unit == 4 {
				return bad
			}
			return 1
		}
		_, err := testLoop(f, &bytes.Buffer{}).run(t.Context())
		if err == nil {
			t.Fatalf("loss %v: no error", bad)
		}
		for _, want := range []string{"iteration 5 of 10", "diverged"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q does not say %q", err, want)
			}
		}
		if len(f.advanced) != 5 {
			t.Errorf("loss %v: training went on to unit %d", bad, len(f.advanced))
		}
	}
	if got := (&loop{unitName: "unit", limit: limit{Kind: trainer.BudgetPairs}}).place(4); got != "unit 5" {
		t.Errorf("%q names a unit of nobody knows how many", got)
	}
}

func TestLoopReportsErrors(t *testing.T) {
	boom := errors.New("boom")
	f := newFake(10, 1, 1)
	f.fail = map[int]error{3: boom}
	_, err := testLoop(f, &bytes.Buffer{}).run(t.Context())
	if !errors.Is(err, boom) || !strings.Contains(err.Error(), "iteration 4 of 10") {
		t.Errorf("got %v", err)
	}
	l := testLoop(newFake(10, 1, 1), nil)
	l.metrics = failingWriter{}
	if _, err := l.run(t.Context()); !errors.Is(err, errFull) {
		t.Errorf("metrics that cannot be written: %v", err)
	}
}

var errFull = errors.New("disk full")

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errFull }

func TestLoopShowsProgressLines(t *testing.T) {
	var out bytes.Buffer
	f := newFake(20, 1, 1)
	l := testLoop(f, nil)
	l.metrics = nil
	l.progress = progress.New(&out)
	l.progress.Now = fakeClock() // a second a look: a line every 5 units
	if _, err := l.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := "training  25.0%  100 words/s  loss 1.0000  lr 8.00e-01  10 pairs/s  ETA 15 s\n"
	if got := out.String(); !strings.HasPrefix(got, want) || strings.Count(got, "\n") != 4 {
		t.Errorf("got\n%swant 4 lines, the first\n%s", got, want)
	}
}
