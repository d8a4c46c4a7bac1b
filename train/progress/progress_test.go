package progress

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/w2vcl/w2vcl/internal/terminal"
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
	p := New(&out)
	p.Now = fakeClock()
	stage := p.Stage("reading", -1)
	for done := range int64(10) { // a second each: one line at the 5th, one at the 10th
		stage.Update(done, func() string { return terminal.Bytes(done * 1e6) })
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

// TestProgressOfAResumedStage: work from before the stage took none of its time.
func TestProgressOfAResumedStage(t *testing.T) {
	var out bytes.Buffer
	p := New(&out)
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
	details := func() string { return "512k words/s  loss 0.6773  lr 2.05e-03  10.9M pairs/s" }
	for width, want := range map[int]string{
		0:   "",
		5:   "trai",
		20:  "training  40%",
		40:  "training  40%  ETA 1.5 s  512k words/s",
		60:  "training  40%  ETA 1.5 s  512k words/s  loss 0.6773",
		80:  "training  40%  ETA 1.5 s  512k words/s  loss 0.6773  lr 2.05e-03  10.9M pairs/s",
		120: "training  40% █████████░░░░░░░░░░░░░░░  ETA 1.5 s  512k words/s  loss 0.6773  lr 2.05e-03  10.9M pairs/s",
	} {
		var out bytes.Buffer
		p := New(&out)
		p.Now, p.width, p.Every = fakeClock(), func() int { return width }, time.Second
		stage := p.Stage("training", 100)
		stage.Update(40, details)
		screen := strings.TrimRight(out.String()[strings.LastIndex(out.String(), "\r")+1:], " ")
		if screen != want {
			t.Errorf("%d columns show %q, want %q", width, screen, want)
		}
		p.Notef("a note between")
		stage.Update(100, nil)
		stage.Done("Trained")
		stage.Update(100, nil) // after the end: nothing
		if !strings.HasSuffix(out.String(), "\rTrained\n") && width > 1 {
			t.Errorf("the screen does not end with the result: %q", out.String())
		}
		for _, line := range strings.FieldsFunc(out.String(), func(r rune) bool { return r == '\r' || r == '\n' }) {
			if n := len([]rune(line)); n > max(width-1, 0) && !slices.Contains([]string{"a ", "  note ", "  between", "Trained"}, line) {
				t.Errorf("a line of %d letters on %d columns: %q", n, width, line)
			}
		}
	}
}

// TestProgressBarOfUnknownEnd: without an end there is neither a share nor a bar.
func TestProgressBarOfUnknownEnd(t *testing.T) {
	var out bytes.Buffer
	p := New(&out)
	p.Now, p.width, p.Every = fakeClock(), func() int { return 80 }, time.Second
	p.Stage("reading", 0).Update(4, func() string { return "4 MB" })
	if want := "\rreading\rreading  4 MB"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

func TestStageServesManyGoroutines(t *testing.T) {
	var out bytes.Buffer
	p := New(&out)
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

func TestWarningsAreShownWhenQuiet(t *testing.T) {
	var out bytes.Buffer
	p := Warnings(&out)
	p.Notef("a note")
	stage := p.Stage("training", 10)
	stage.Update(5, nil)
	stage.Done("done")
	p.Busy("waiting")()
	p.Warnf("%d bytes", 3)
	if got := out.String(); got != "Warning: 3 bytes\n" {
		t.Errorf("a quiet progress wrote %q", got)
	}
	if p.Shows() || (*Progress)(nil).Shows() || !New(&out).Shows() {
		t.Error("Shows")
	}
	(*Progress)(nil).Warnf("nobody")
}
