package wordcontext

import (
	"context"
	"sync"
	"sync/atomic"
)

// parallel calls work(worker, task) for every task from 0 to tasks-1 on up to
// threads goroutines; worker numbers the goroutine. Tasks start in order. The
// first error, or the context's, stops the rest and is returned.
func parallel(ctx context.Context, threads, tasks int, work func(worker, task int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var wg sync.WaitGroup
	for worker := range min(threads, tasks) {
		wg.Go(func() {
			for ctx.Err() == nil {
				task := int(next.Add(1)) - 1
				if task >= tasks {
					return
				}
				if err := work(worker, task); err != nil {
					cancel(err)
				}
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

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
