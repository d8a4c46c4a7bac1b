package cluster

import "time"

// A Counted is a Comm that counts the bytes which its rank sends to others, by what each call has to move; how a library does that it
// does not know. It also takes the time of calls.
type Counted struct {
	Comm
	Sent  uint64 // bytes
	Calls uint64
	Time  time.Duration // in calls, with waiting for other ranks
}

var _ Comm = (*Counted)(nil)

// count counts a call, and returns what is to be done when it ends.
func (c *Counted) count(bytes int) (end func()) {
	c.Sent += uint64(bytes)
	c.Calls++
	start := time.Now()
	return func() { c.Time += time.Since(start) }
}

// AllGather sends the rank's part to all others.
func (c *Counted) AllGather(buffer []byte, ends []int) error {
	defer c.count(len(Part(buffer, ends, c.Rank())) * (c.Size() - 1))()
	return c.Comm.AllGather(buffer, ends)
}

// AllToAll sends all parts but the rank's own.
func (c *Counted) AllToAll(send []byte, sendEnds []int, recv []byte, recvEnds []int) error {
	others := 0
	if sent := sendEnds[len(sendEnds)-1]; sent > 0 {
		others = sent - len(Part(send, sendEnds, c.Rank()))
	}
	defer c.count(others)()
	return c.Comm.AllToAll(send, sendEnds, recv, recvEnds)
}

// AllReduce sends each number nearly twice: to where it is joined, and joined.
func (c *Counted) AllReduce(numbers []uint64, op Op) error {
	defer c.count(2 * 8 * len(numbers) * (c.Size() - 1) / c.Size())()
	return c.Comm.AllReduce(numbers, op)
}

// Exscan sends the numbers to the next rank.
func (c *Counted) Exscan(numbers []uint64) error {
	defer c.count(8 * len(numbers))()
	return c.Comm.Exscan(numbers)
}

// Bcast sends the data of the root to all.
func (c *Counted) Bcast(data []byte, root int) error {
	others := 0
	if root == c.Rank() {
		others = len(data) * (c.Size() - 1)
	}
	defer c.count(others)()
	return c.Comm.Bcast(data, root)
}
