package cluster

// A Counted is a Comm that counts the bytes which its rank sends to others, by what each call has to move; how a library does that it
// does not know.
type Counted struct {
	Comm
	Sent  uint64 // bytes
	Calls uint64
}

var _ Comm = (*Counted)(nil)

func (c *Counted) count(bytes int) {
	c.Sent += uint64(bytes)
	c.Calls++
}

// AllGather sends the rank's part to all others.
func (c *Counted) AllGather(buffer []byte, ends []int) error {
	c.count(len(Part(buffer, ends, c.Rank())) * (c.Size() - 1))
	return c.Comm.AllGather(buffer, ends)
}

// AllToAll sends all parts but the rank's own.
func (c *Counted) AllToAll(send []byte, sendEnds []int, recv []byte, recvEnds []int) error {
	if sent := sendEnds[len(sendEnds)-1]; sent > 0 {
		c.count(sent - len(Part(send, sendEnds, c.Rank())))
	}
	return c.Comm.AllToAll(send, sendEnds, recv, recvEnds)
}

// AllReduce sends each number nearly twice: to where it is joined, and joined.
func (c *Counted) AllReduce(numbers []uint64, op Op) error {
	c.count(2 * 8 * len(numbers) * (c.Size() - 1) / c.Size())
	return c.Comm.AllReduce(numbers, op)
}

// Exscan sends the numbers to the next rank.
func (c *Counted) Exscan(numbers []uint64) error {
	c.count(8 * len(numbers))
	return c.Comm.Exscan(numbers)
}

// Bcast sends the data of the root to all.
func (c *Counted) Bcast(data []byte, root int) error {
	if root == c.Rank() {
		c.count(len(data) * (c.Size() - 1))
	}
	return c.Comm.Bcast(data, root)
}
