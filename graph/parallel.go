package graph

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// parallel calls work(worker, i) for every i in [0, n) on at most threads
// goroutines; worker tells them apart. A panic in work becomes an error.
func parallel(threads, n int, work func(worker, i int)) error {
	var (
		next   atomic.Int64
		wait   sync.WaitGroup
		failed atomic.Pointer[error]
	)
	run := func(worker int) {
		defer func() {
			if p := recover(); p != nil {
				err := fmt.Errorf("panic: %v", p)
				failed.CompareAndSwap(nil, &err)
			}
		}()
		for i := int(next.Add(1)) - 1; i < n && failed.Load() == nil; i = int(next.Add(1)) - 1 {
			work(worker, i)
		}
	}
	for worker := 1; worker < min(threads, n); worker++ {
		wait.Go(func() { run(worker) })
	}
	run(0)
	wait.Wait()
	if err := failed.Load(); err != nil {
		return *err
	}
	return nil
}
