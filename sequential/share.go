package sequential

import "sync/atomic"

// A share hands out a range of sentences to threads, in order: much at a time at
// first and less towards the end, so that all threads end together.
type share struct {
	next  atomic.Int64
	end   int
	least int // sentences to hand out at a time
}

func newShare(first, end, least int) *share {
	s := &share{end: end, least: max(least, 1)}
	s.next.Store(int64(first))
	return s
}

// take returns the next sentences; first is end if there are none left.
func (s *share) take() (first, end int) {
	for {
		next := s.next.Load()
		first = int(next)
		end = min(first+max((s.end-first)/4, s.least), s.end)
		if first >= s.end {
			return s.end, s.end
		}
		if s.next.CompareAndSwap(next, int64(end)) {
			return first, end
		}
	}
}

// shares are the sentences of a unit, a share for each thread.
type shares []*share

// take returns the next sentences for a thread: of its own share, then of the
// other threads' shares.
func (s shares) take(thread int) (first, end int) {
	for i := range s {
		if first, end = s[(thread+i)%len(s)].take(); first < end {
			break
		}
	}
	return first, end
}
