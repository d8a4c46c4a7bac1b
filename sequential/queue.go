package sequential

import "sync/atomic"

// A queue hands out a range of sentences to threads, in order: much at a time at
// first and less towards the end, so that all threads end together.
type queue struct {
	next  atomic.Int64
	end   int
	least int // sentences to hand out at a time
}

func newQueue(first, end, least int) *queue {
	q := &queue{end: end, least: max(least, 1)}
	q.next.Store(int64(first))
	return q
}

// take returns the next sentences; first is end if there are none left.
func (q *queue) take() (first, end int) {
	for {
		next := q.next.Load()
		first = int(next)
		end = min(first+max((q.end-first)/4, q.least), q.end)
		if first >= q.end {
			return q.end, q.end
		}
		if q.next.CompareAndSwap(next, int64(end)) {
			return first, end
		}
	}
}

// queues are the sentences of a unit, a queue for each thread.
type queues []*queue

// take returns the next sentences for a thread: of its own queue, then of the
// other threads' queues.
func (q queues) take(thread int) (first, end int) {
	for i := range q {
		if first, end = q[(thread+i)%len(q)].take(); first < end {
			break
		}
	}
	return first, end
}
