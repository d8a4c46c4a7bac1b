package sequential

import "sync/atomic"

// A share hands out a range of sentences to threads, in order: much at a time at
// first and less towards the end, so that all threads end together.
type share struct {
	next    atomic.Int64
	end     int
	least   int // sentences to hand out at a time
	threads int
}

func newShare(first, end, least, threads int) *share {
	s := &share{end: end, least: max(least, 1), threads: threads}
	s.next.Store(int64(first))
	return s
}

// take returns the next sentences; first is end if there are none left.
func (s *share) take() (first, end int) {
	for {
		next := s.next.Load()
		first = int(next)
		end = min(first+max((s.end-first)/(4*s.threads), s.least), s.end)
		if first >= s.end {
			return s.end, s.end
		}
		if s.next.CompareAndSwap(next, int64(end)) {
			return first, end
		}
	}
}
