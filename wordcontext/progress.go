package wordcontext

import "sync"

// progress adds up the work of several goroutines for Options.Progress.
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
