package wordcontext

import "sync"

// A progress adds up the work of several goroutines, in tokens, and reports it to
// Options.Progress.
type progress struct {
	report func(done, total int64) // may be nil
	total  int64

	mu   sync.Mutex
	done int64
}

func (p *progress) add(n int64) {
	if p.report == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done += n
	p.report(p.done, p.total)
}
