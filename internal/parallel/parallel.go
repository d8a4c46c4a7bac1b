// Package parallel spreads numbered tasks over goroutines. Start at [Do]. For loops
// so short that starting goroutines shows there is package team.
package parallel

import (
	"context"
	"sync"
	"sync/atomic"
)

// Do calls work for every task from 0 to tasks-1 on up to threads goroutines.
// Tasks start in order. The error is that of a cancelled context; some tasks are
// not done then.
func Do(ctx context.Context, threads, tasks int, work func(task int)) error {
	return Try(ctx, threads, tasks, func(_, task int) error {
		work(task)
		return nil
	})
}

// Try is Do for work that can fail; worker, less than threads, numbers the
// goroutine. The first error, or the context's, stops the rest and is returned.
func Try(ctx context.Context, threads, tasks int, work func(worker, task int) error) error {
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
