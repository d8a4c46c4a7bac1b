package progress

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestBusy(t *testing.T) {
	var p *Progress
	p.Busy("nothing")()

	var out bytes.Buffer
	p = New(&out)
	p.Busy("short work")() // ends before anything is shown
	if out.Len() > 0 {
		t.Errorf("shown: %q", &out)
	}
	lines := make(lineChannel, 1)
	p = New(lines)
	p.Every = time.Millisecond
	stop := p.Busy("work")
	if shown := <-lines; !strings.HasPrefix(shown, "work  ") {
		t.Errorf("shown: %q", shown)
	}
	go func() {
		for range lines { // what is under way
		}
	}()
	stop()
	close(lines) // a line after the end would panic
	stop()
}

// A lineChannel hands on what is written to it.
type lineChannel chan string

func (c lineChannel) Write(b []byte) (int, error) {
	c <- string(b)
	return len(b), nil
}
