package cluster

import (
	"fmt"
	"slices"
	"sync"
)

// A mesh is a rank with a link to each other. [TCP] and [Local] make links of different kinds.
type mesh struct {
	rank, size int
	links      []*link // nil for this rank

	tell  func(why error) // tells the other ranks that this one ends
	once  sync.Once       // for the end
	ended chan struct{}   // closed when why is there
	why   error
}

// A link brings frames to a rank and from it.
type link struct {
	send   func(f frame) error
	frames chan frame  // from it
	spare  chan []byte // memory of a frame that is used up, for another
}

// A frame is what is sent at a time, for a call that both ranks make.
type frame struct {
	call string
	data []byte
}

// framesAhead is how many frames a rank takes that it does not expect yet.
const framesAhead = 16

func newMesh(rank, size int) *mesh {
	return &mesh{rank: rank, size: size, links: make([]*link, size), ended: make(chan struct{})}
}

func (m *mesh) Rank() int { return m.rank }

func (m *mesh) Size() int { return m.size }

func (m *mesh) AllGather(buffer []byte, ends []int) error {
	send, recv := slices.Repeat([][]byte{Part(buffer, ends, m.rank)}, m.size), parts(buffer, ends)
	return m.exchange("AllGather", send, recv)
}

func (m *mesh) AllToAll(send []byte, sendEnds []int, recv []byte, recvEnds []int) error {
	to, from := parts(send, sendEnds), parts(recv, recvEnds)
	copy(from[m.rank], to[m.rank])
	return m.exchange("AllToAll", to, from)
}

func parts(buffer []byte, ends []int) [][]byte {
	all := make([][]byte, len(ends))
	for r := range all {
		all[r] = Part(buffer, ends, r)
	}
	return all
}

// exchange sends to each other rank, which takes it at any time, and then waits for what each sends. Where nothing is expected nothing is sent.
func (m *mesh) exchange(call string, send, recv [][]byte) error {
	for i := 1; i < m.size; i++ {
		to := (m.rank + i) % m.size
		if len(send[to]) == 0 {
			continue
		}
		if err := m.links[to].send(frame{call, send[to]}); err != nil {
			<-m.ended // who reads from it finds the same
			return m.why
		}
	}
	for i := 1; i < m.size; i++ {
		from := (m.rank + m.size - i) % m.size
		if len(recv[from]) == 0 {
			continue
		}
		select {
		case f := <-m.links[from].frames:
			if f.call != call || len(f.data) != len(recv[from]) {
				m.end(fmt.Errorf("rank %d calls %q with %d bytes where rank %d calls %q with %d", from, f.call, len(f.data), m.rank, call, len(recv[from])))
				return m.why
			}
			copy(recv[from], f.data)
			select {
			case m.links[from].spare <- f.data:
			default:
			}
		case <-m.ended:
			return m.why
		}
	}
	return nil
}

// end ends this rank and all others.
func (m *mesh) end(why error) {
	if m.stop(why) {
		m.tell(why)
	}
}

// stop ends this rank, and reports whether it had not ended.
func (m *mesh) stop(why error) (first bool) {
	m.once.Do(func() {
		m.why, first = why, true
		close(m.ended)
	})
	return first
}
