package cuda

import (
	"runtime"
	"sync"
)

// Parallel cuts n things into a range for each processor and calls f for all ranges at the
// same time.
func Parallel(n int, f func(first, end int)) {
	threads := runtime.GOMAXPROCS(0)
	var working sync.WaitGroup
	for thread := range threads {
		working.Go(func() { f(n*thread/threads, n*(thread+1)/threads) })
	}
	working.Wait()
}
