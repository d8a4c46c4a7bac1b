package terminal

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// A Progress shows how far the work has come: with a bar on a terminal, elsewhere
// with a plain line every few seconds. A nil *Progress writes nothing; --quiet uses
// it.
type Progress struct {
	// Every is the shortest time from one update on the screen to the next, and Now
	// is the clock.
	// NewProgress sets both; tests change them.
	Every time.Duration
	Now   func() time.Time

	w     io.Writer
	width int // of the terminal; 0: not a terminal
}

// everyVariable is the environment variable with the seconds from one plain line to
// the next. Programs that show the lines in their own way set it to less than 5.
const everyVariable = "W2VCL_PROGRESS_SECONDS"

// NewProgress returns a Progress that writes to w, normally standard error.
func NewProgress(w io.Writer) *Progress {
	p := &Progress{w: w, Every: 5 * time.Second, Now: time.Now}
	if seconds, err := strconv.ParseFloat(os.Getenv(everyVariable), 64); err == nil && seconds > 0 && seconds < 1e6 {
		p.Every = time.Duration(seconds * float64(time.Second))
	}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.Every = 100 * time.Millisecond
		p.width = 80
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			p.width = width
		}
	}
	return p
}

// Writer returns the writer given to NewProgress, for text of several lines.
func (p *Progress) Writer() io.Writer { return p.w }

// Notef writes one line.
func (p *Progress) Notef(format string, args ...any) {
	if p != nil {
		_, _ = fmt.Fprintf(p.w, format+"\n", args...) // nobody could read about the error
	}
}

// Stage begins a stage of work. It ends at total, in any unit of the caller's; a
// total of 0 or less means that the end is unknown. The caller ends the stage with
// Done or Stop.
func (p *Progress) Stage(name string, total int64) *Stage {
	if p == nil {
		return nil
	}
	s := &Stage{p: p, name: name, total: total, start: p.Now()}
	s.shown = s.start
	if p.width > 0 {
		s.bar = progressbar.NewOptions64(max(total, -1),
			progressbar.OptionSetWriter(p.w),
			progressbar.OptionSetDescription(name),
			progressbar.OptionSetWidth(20),
			progressbar.OptionSetPredictTime(true),
			progressbar.OptionSetElapsedTime(true),
			progressbar.OptionClearOnFinish(),
		)
	}
	return s
}

// A Stage is a part of the work with its own progress. Several goroutines may
// call its methods; a nil *Stage does nothing.
type Stage struct {
	p     *Progress
	name  string
	start time.Time

	mu      sync.Mutex
	skipped int64 // done before the stage began
	total   int64
	shown   time.Time
	bar     *progressbar.ProgressBar
}

// Update shows that done of total is finished. It does nothing before
// Progress.Every has passed since it last showed something. detail, which may be
// nil, gives more text for the screen; Update calls it only when it shows it.
func (s *Stage) Update(done int64, detail func() string) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.p.Now()
	if now.Sub(s.shown) < s.p.Every {
		return
	}
	s.shown = now
	text := ""
	if detail != nil {
		text = detail()
	}
	if s.bar != nil {
		s.showBar(done, text)
		return
	}
	s.showLine(done, text, now)
}

// Skip leaves the work up to done, finished before the stage began, out of the
// estimate of the remaining time.
func (s *Stage) Skip(done int64) {
	if s != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.skipped = done
	}
}

// SetTotal sets the end of the stage, for instance when it becomes known.
func (s *Stage) SetTotal(total int64) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if total > 0 && total != s.total {
		s.total = total
		if s.bar != nil {
			s.bar.ChangeMax64(total)
		}
	}
}

// barWidth is the width of bar, percentage and times, in letters.
const barWidth = 46

func (s *Stage) showBar(done int64, text string) {
	line := s.name
	if text != "" {
		line += "  " + text
	}
	if width := max(s.p.width-barWidth, len(s.name)); len(line) > width {
		line = line[:width]
	}
	s.bar.Describe(line)
	if s.total > 0 {
		// At its end the bar would finish itself; Done does that.
		done = min(done, s.total-1)
	}
	_ = s.bar.Set64(max(done, 0)) // a display that fails is no reason to stop
}

func (s *Stage) showLine(done int64, text string, now time.Time) {
	line := s.name
	if s.total > 0 {
		line += fmt.Sprintf("  %.1f%%", 100*float64(done)/float64(s.total))
	}
	if text != "" {
		line += "  " + text
	}
	if elapsed := now.Sub(s.start).Seconds(); s.total > 0 && done > s.skipped {
		line += "  ETA " + Duration(elapsed*float64(s.total-done)/float64(done-s.skipped))
	}
	s.p.Notef("%s", line)
}

// Stop ends a stage that failed: it removes the bar and writes nothing. After Done
// it does nothing.
func (s *Stage) Stop() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bar != nil {
		_ = s.bar.Clear()
		_ = s.bar.Exit()
		s.bar = nil
	}
}

// Done ends the stage with a line about its result.
func (s *Stage) Done(format string, args ...any) {
	if s == nil {
		return
	}
	s.Stop()
	s.p.Notef(format, args...)
}
