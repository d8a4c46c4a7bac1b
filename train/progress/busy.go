package progress

import (
	"sync"
	"time"

	"github.com/w2vcl/w2vcl/internal/terminal"
)

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
