// Package progress shows the person at the terminal how far the work has come.
//
// Start at [Progress]. The functions that take one, such as train.Run, are silent
// with nil.
package progress

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/w2vcl/w2vcl/internal/terminal"
)

// A Progress shows how far the work has come: with a bar on a terminal, elsewhere
// with a plain line every few seconds. A nil *Progress writes nothing.
type Progress struct {
	// Every is the shortest time from one update on the screen to the next, and Now
	// is the clock.
	// New sets both; tests change them.
	Every time.Duration
	Now   func() time.Time

	w     io.Writer
	quiet bool       // only warnings are written
	width func() int // of the terminal now; nil: not a terminal

	mu    sync.Mutex
	shown int // letters of the bar on the screen
}

// everyVariable is the environment variable with the seconds from one plain line to
// the next. Programs that show the lines in their own way set it to less than 5.
const everyVariable = "W2VCL_PROGRESS_SECONDS"

// New returns a Progress that writes to w, normally standard error.
func New(w io.Writer) *Progress {
	p := &Progress{w: w, Every: 5 * time.Second, Now: time.Now}
	if seconds, err := strconv.ParseFloat(os.Getenv(everyVariable), 64); err == nil && seconds > 0 && seconds < 1e6 {
		p.Every = time.Duration(seconds * float64(time.Second))
	}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.Every = 100 * time.Millisecond
		p.width = func() int { return terminal.Width(f) }
	}
	return p
}

// Warnings returns a Progress that writes warnings and nothing else; --quiet uses it.
func Warnings(w io.Writer) *Progress {
	p := New(w)
	p.quiet = true
	return p
}

// Shows reports whether anything but warnings is written.
func (p *Progress) Shows() bool { return p != nil && !p.quiet }

// Writer returns a writer for text of several lines, each of them whole. It takes the
// place of the bar on the screen.
func (p *Progress) Writer() io.Writer { return textWriter{p} }

type textWriter struct{ p *Progress }

func (t textWriter) Write(text []byte) (int, error) {
	t.p.mu.Lock()
	defer t.p.mu.Unlock()
	t.p.clear()
	_, err := t.p.w.Write([]byte(t.p.wrap(string(text))))
	return len(text), err
}

// wrap breaks the lines of a text that are too long for the terminal.
func (p *Progress) wrap(text string) string {
	if p.width == nil {
		return text
	}
	return terminal.Wrap(text, p.width()-1)
}

// Notef writes one line.
func (p *Progress) Notef(format string, args ...any) {
	if p.Shows() {
		p.line(fmt.Sprintf(format, args...))
	}
}

// Warnf writes one line about something that the user did probably not want.
func (p *Progress) Warnf(format string, args ...any) {
	if p != nil {
		p.line("Warning: " + fmt.Sprintf(format, args...))
	}
}

func (p *Progress) line(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	_, _ = p.w.Write([]byte(p.wrap(terminal.Visible(text + "\n")))) // nobody could read about the error
}

// show puts a line in place of the bar on the screen.
func (p *Progress) show(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	letters := utf8.RuneCountInString(line)
	_, _ = p.w.Write([]byte("\r" + line + strings.Repeat(" ", max(0, p.shown-letters))))
	p.shown = letters
}

// clear removes the bar. The caller has the lock.
func (p *Progress) clear() {
	if p.shown > 0 {
		_, _ = p.w.Write([]byte("\r" + strings.Repeat(" ", p.shown) + "\r"))
		p.shown = 0
	}
}

// Stage begins a stage of work. It ends at total, in any unit of the caller's; a
// total of 0 or less means that the end is unknown. The caller ends the stage with
// Done or Stop.
func (p *Progress) Stage(name string, total int64) *Stage {
	if !p.Shows() {
		return nil
	}
	s := &Stage{p: p, name: name, total: total, start: p.Now()}
	s.shown = s.start
	if p.width != nil {
		s.showBar(0, "", s.start)
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
	ended   bool
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
	if s.ended || now.Sub(s.shown) < s.p.Every {
		return
	}
	s.shown = now
	text := ""
	if detail != nil {
		text = detail()
	}
	if s.p.width != nil {
		s.showBar(done, text, now)
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
	if total > 0 {
		s.total = total
	}
}

const (
	shortestBar = 8
	longestBar  = 24
)

// showBar writes name, share and ETA, then as many details as the line has room for, each
// whole or not at all, and a bar where there is room left.
func (s *Stage) showBar(done int64, text string, now time.Time) {
	room := s.p.width() - 1 // a letter in the last column would begin a new line
	name := []rune(s.name)
	line := string(name[:min(len(name), max(room, 0))])
	room -= utf8.RuneCountInString(line)
	share, details := s.percent(done, 0), ""
	for _, part := range append([]string{share, s.eta(done, now)}, strings.Split(text, "  ")...) {
		if n := 2 + utf8.RuneCountInString(part); part != "" && n <= room {
			details += "  " + part
			room -= n
		}
	}
	if left := min(room-1, longestBar); left >= shortestBar && share != "" {
		details = strings.Replace(details, share, s.bar(done, left), 1)
	}
	s.p.show(line + details)
}

// bar draws the share that is done and a bar of some letters.
func (s *Stage) bar(done int64, letters int) string {
	b := progressbar.NewOptions64(s.total,
		progressbar.OptionSetWriter(io.Discard), // show writes it
		progressbar.OptionSetWidth(letters),
		progressbar.OptionSetTheme(progressbar.Theme{Saucer: "█", SaucerPadding: "░"}),
		progressbar.OptionSetElapsedTime(false),
		progressbar.OptionSetPredictTime(false),
	)
	_ = b.Set64(min(max(done, 0), s.total)) // it writes nothing that could fail
	return strings.TrimSpace(b.String())
}

// showLine writes a line of its own.
func (s *Stage) showLine(done int64, text string, now time.Time) {
	line := s.name
	for _, part := range []string{s.percent(done, 1), text, s.eta(done, now)} {
		if part != "" {
			line += "  " + part
		}
	}
	s.p.Notef("%s", line)
}

// percent is how much of the work is done, in per cent; nothing if the end is unknown.
func (s *Stage) percent(done int64, digits int) string {
	if s.total <= 0 {
		return ""
	}
	return fmt.Sprintf("%.*f%%", digits, 100*min(1, float64(max(done, 0))/float64(s.total)))
}

// eta is the time to the end of the stage, if it is known and not over.
func (s *Stage) eta(done int64, now time.Time) string {
	elapsed := now.Sub(s.start).Seconds()
	if s.total <= done || done <= s.skipped {
		return ""
	}
	return "ETA " + terminal.Duration(elapsed*float64(s.total-done)/float64(done-s.skipped))
}

// Stop ends a stage that failed: it removes the bar and writes nothing. After Done
// it does nothing.
func (s *Stage) Stop() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	s.p.mu.Lock()
	defer s.p.mu.Unlock()
	s.p.clear()
}

// Done ends the stage with a line about its result.
func (s *Stage) Done(format string, args ...any) {
	if s == nil {
		return
	}
	s.Stop()
	s.p.Notef(format, args...)
}

// Busy shows that work goes on whose end is unknown, as a stage without steps, until
// stop is called.
func (p *Progress) Busy(name string) (stop func()) {
	if !p.Shows() {
		return func() {}
	}
	stage, start := p.Stage(name, 0), time.Now()
	done := make(chan struct{})
	var ticking sync.WaitGroup
	ticking.Go(func() {
		tick := time.NewTicker(max(p.Every/2, time.Millisecond))
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				stage.Update(0, func() string { return terminal.Duration(time.Since(start).Seconds()) })
			}
		}
	})
	return sync.OnceFunc(func() {
		close(done)
		ticking.Wait()
		stage.Stop()
	})
}
