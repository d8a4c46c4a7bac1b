// Package parallel spreads numbered tasks over goroutines. Start at [Do]. Package
// team is for loops so short that the start of goroutines costs too much.
package parallel

import (
	"context"
	"slices"
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

// Sort sorts x on several goroutines: parts of it, which it then merges two by two. Equal values may change places.
func Sort[T any](ctx context.Context, threads int, x []T, compare func(a, b T) int) error {
	const least = 1 << 12 // values of a part
	threads = max(threads, 1)
	parts := 1
	for parts < threads && len(x)/(2*parts) >= least {
		parts *= 2
	}
	bound := func(part int) int { return len(x) * part / parts }
	if err := Do(ctx, threads, parts, func(k int) { slices.SortFunc(x[bound(k):bound(k+1)], compare) }); err != nil || parts == 1 {
		return err
	}
	from, to := x, make([]T, len(x))
	for size := 1; size < parts; size *= 2 {
		err := Do(ctx, threads, parts/(2*size), func(k int) {
			first, middle, end := bound(2*size*k), bound(2*size*k+size), bound(2*size*(k+1))
			merge(to[first:end], from[first:middle], from[middle:end], compare)
		})
		if err != nil {
			return err
		}
		from, to = to, from
	}
	copy(x, from)
	return nil
}

// merge merges two sorted lists into one.
func merge[T any](to, a, b []T, compare func(a, b T) int) {
	for len(a) > 0 && len(b) > 0 {
		if compare(b[0], a[0]) < 0 {
			to[0], b = b[0], b[1:]
		} else {
			to[0], a = a[0], a[1:]
		}
		to = to[1:]
	}
	copy(to[copy(to, a):], b)
}
