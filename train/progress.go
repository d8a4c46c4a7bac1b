package train

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// Progress tells a person what is going on: a bar on a terminal, a plain line
// every few seconds anywhere else. The nil *Progress says nothing, which is
// what --quiet means.
type Progress struct {
	w     io.Writer
	width int // of the terminal; 0: not a terminal
	every time.Duration
	now   func() time.Time
}

// NewProgress returns a Progress that writes to w, normally standard error.
func NewProgress(w io.Writer) *Progress {
	p := &Progress{w: w, every: 5 * time.Second, now: time.Now}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.every = 100 * time.Millisecond
		p.width = 80
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			p.width = width
		}
	}
	return p
}

// Notef writes one line.
func (p *Progress) Notef(format string, args ...any) {
	if p != nil {
		_, _ = fmt.Fprintf(p.w, format+"\n", args...) // nobody to tell
	}
}

// Stage begins a stage of work with a known end; total at or below 0 means
// that the end is not known. The caller ends it with Done or Stop.
func (p *Progress) Stage(name string, total int64) *Stage {
	if p == nil {
		return nil
	}
	s := &Stage{p: p, name: name, total: total, start: p.now()}
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

// A Stage is a part of the work with a progress of its own. Its methods may be
// called by several goroutines; a nil *Stage does nothing.
type Stage struct {
	p     *Progress
	name  string
	start time.Time

	mu    sync.Mutex
	first int64 // done before the stage began
	total int64
	shown time.Time
	bar   *progressbar.ProgressBar
}

// Update shows that done of total is finished, if the last sign of life is old
// enough. detail, which may be nil, is called only then.
func (s *Stage) Update(done int64, detail func() string) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.p.now()
	if now.Sub(s.shown) < s.p.every {
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

// Skip says that the first part of the work, up to done, was done before the
// stage began.
func (s *Stage) Skip(done int64) {
	if s != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.first = done
	}
}

// SetTotal gives or changes the end of the stage.
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

// barRoom is what the bar itself, percentage and times take of a line.
const barRoom = 46

func (s *Stage) showBar(done int64, text string) {
	line := s.name
	if text != "" {
		line += "  " + text
	}
	if room := max(s.p.width-barRoom, len(s.name)); len(line) > room {
		line = line[:room]
	}
	s.bar.Describe(line)
	if s.total > 0 {
		// Set64 to the end would finish the bar; Done does that.
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
	if elapsed := now.Sub(s.start).Seconds(); s.total > 0 && done > s.first {
		line += "  ETA " + Duration(elapsed*float64(s.total-done)/float64(done-s.first))
	}
	s.p.Notef("%s", line)
}

// Stop takes the stage off the screen without a word, for stages that failed.
// Calling it after Done does nothing.
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

// Done ends the stage with a line that says what came of it.
func (s *Stage) Done(format string, args ...any) {
	if s == nil {
		return
	}
	s.Stop()
	s.p.Notef(format, args...)
}
