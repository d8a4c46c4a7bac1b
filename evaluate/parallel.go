package evaluate

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// inParallel calls work for 0 ... n-1 on all processors. The error is that of a
// cancelled context; some are not done then.
func inParallel(ctx context.Context, n int, work func(i int)) error {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1) - 1)
				if i >= n {
					return
				}
				work(i)
			}
		})
	}
	wg.Wait()
	return ctx.Err()
}
