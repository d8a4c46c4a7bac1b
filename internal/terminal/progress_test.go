package terminal

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestNilProgressIsSilent(t *testing.T) {
	var p *Progress
	p.Notef("nothing")
	stage := p.Stage("work", 10)
	stage.SetTotal(20)
	stage.Update(1, func() string { t.Error("asked for details that nobody sees"); return "" })
	stage.Stop()
	stage.Done("nothing")
}

func TestProgressLines(t *testing.T) {
	var out bytes.Buffer
	p := NewProgress(&out)
	p.Now = fakeClock()
	stage := p.Stage("reading", -1)
	for done := range int64(10) { // a second each: one line at the 5th, one at the 10th
		stage.Update(done, func() string { return Bytes(done * 1e6) })
	}
	stage.SetTotal(20)
	for range 5 {
		stage.Update(10, nil)
	}
	stage.Done("Read %d bytes", 20)
	want := "reading  4 MB\nreading  9 MB\nreading  50.0%  ETA 15 s\nRead 20 bytes\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}

// TestProgressAsOftenAsAsked: the environment says how often; nonsense is passed over.
func TestProgressAsOftenAsAsked(t *testing.T) {
	for value, want := range map[string]time.Duration{"": 5 * time.Second, "0.25": 250 * time.Millisecond, "60": time.Minute,
		"0": 5 * time.Second, "-1": 5 * time.Second, "soon": 5 * time.Second, "NaN": 5 * time.Second} {
		t.Setenv(everyVariable, value)
		if got := NewProgress(new(bytes.Buffer)).Every; got != want {
			t.Errorf("%s=%s: every %v, want %v", everyVariable, value, got, want)
		}
	}
}

// TestProgressOfAResumedStage: work from before the stage took none of its time.
func TestProgressOfAResumedStage(t *testing.T) {
	var out bytes.Buffer
	p := NewProgress(&out)
	p.Now = fakeClock()
	stage := p.Stage("training", 100)
	stage.Skip(80)
	for done := int64(81); done <= 90; done++ { // one a second
		stage.Update(done, nil)
	}
	if want := "training  85.0%  ETA 15 s\ntraining  90.0%  ETA 10 s\n"; out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}

func TestProgressBar(t *testing.T) {
	var out bytes.Buffer
	p := NewProgress(&out)
	p.Now, p.width, p.Every = fakeClock(), 90, time.Second
	stage := p.Stage("training", 100)
	stage.Update(40, func() string { return strings.Repeat("words ", 50) })
	stage.Update(100, nil) // Done announces the end
	stage.Done("Trained")
	shown := out.String()
	for _, want := range []string{"training  words words", "40% |", "99% |"} {
		if !strings.Contains(shown, want) {
			t.Errorf("no %q in %q", want, shown)
		}
	}
	if !strings.HasSuffix(shown, "Trained\n") {
		t.Errorf("the screen does not end with the result: %q", shown)
	}
	for _, line := range strings.Split(shown, "\r") {
		if len([]rune(line)) > 90 {
			t.Errorf("a line of %d letters does not fit the terminal: %q", len([]rune(line)), line)
		}
	}
}

func TestStageServesManyGoroutines(t *testing.T) {
	var out bytes.Buffer
	p := NewProgress(&out)
	p.Every = 0
	stage := p.Stage("work", 1000)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for i := range int64(50) {
				stage.SetTotal(1000 + i)
				stage.Update(i, nil)
			}
		})
	}
	group.Wait()
	stage.Done("Done")
	if got := strings.Count(out.String(), "\n"); got != 201 {
		t.Errorf("%d lines, want 201", got)
	}
}

// fakeClock advances by a second each time it is asked.
func fakeClock() func() time.Time {
	now := time.Unix(0, 0)
	return func() time.Time {
		now = now.Add(time.Second)
		return now
	}
}
