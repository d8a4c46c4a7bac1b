// Package parallel spreads numbered tasks over goroutines. Start at [Do]. Package
// team is for loops so short that the start of goroutines costs too much.
package parallel

import (
	"context"
	"sync"
	"sync/atomic"
)

// Do calls work for every task from 0 to tasks-1 on up to threads goroutines.
// Tasks start in order. If the context is cancelled, Do leaves the remaining tasks
// undone and returns the context's error.
func Do(ctx context.Context, threads, tasks int, work func(task int)) error {
	return Try(ctx, threads, tasks, func(_, task int) error {
		work(task)
		return nil
	})
}

// Ranges calls work for the numbers from 0 to n-1, atATime of them at a time, from first to end-1.
func Ranges(threads, n, atATime int, work func(first, end int)) {
	// Without a context to cancel there is no error.
	_ = Do(context.Background(), threads, (n+atATime-1)/atATime, func(task int) {
		work(task*atATime, min((task+1)*atATime, n))
	})
}

// Try is Do for work that can fail. worker, below threads, is the number of the
// goroutine. The first error of work or of the context ends the loop; Try returns
// it.
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

// Begin begins to compute something and returns a function that waits for
// the result.
func Begin[T any](compute func() T) func() T {
	result := make(chan T, 1)
	go func() { result <- compute() }()
	return sync.OnceValue(func() T { return <-result })
}
