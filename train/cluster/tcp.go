package cluster

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/w2vcl/w2vcl/internal/memory"
)

// A TCP is a [Comm] of processes on any hosts, each of which has a connection to each other. It needs no library.
type TCP struct {
	*mesh
	launch  Launch
	options TCPOptions
	reading sync.WaitGroup

	mutex sync.Mutex // of connections while ranks meet
	conns []*connection
}

var _ Process = (*TCP)(nil)

// A connection is one to another rank.
type connection struct {
	net.Conn
	rank    int
	writing sync.Mutex
}

// The calls of frames that are no exchange.
const (
	callHello = "hello"
	callEnd   = "end"
)

// nameBytes and headBytes are the lengths of what is sent before data: the name of the call, and the length of the data.
const (
	nameBytes = 16
	headBytes = nameBytes + 8
)

func write(conn net.Conn, f frame) error {
	head := make([]byte, headBytes)
	copy(head[:nameBytes], f.call)
	binary.LittleEndian.PutUint64(head[nameBytes:], uint64(len(f.data)))
	buffers := net.Buffers{head, f.data}
	_, err := buffers.WriteTo(conn)
	return err
}

func writeJSON(conn net.Conn, call string, message any) error {
	text, err := json.Marshal(message)
	if err != nil {
		return err
	}
	return write(conn, frame{call, text})
}

// read reads a frame of at most so many bytes, into spare memory if there is enough.
func read(conn net.Conn, most uint64, spare chan []byte) (f frame, err error) {
	head := make([]byte, headBytes)
	if _, err = io.ReadFull(conn, head); err != nil {
		return f, err
	}
	n := binary.LittleEndian.Uint64(head[nameBytes:])
	if n > most {
		return f, errors.New("it is no rank")
	}
	f.call = strings.TrimRight(string(head[:nameBytes]), "\x00")
	select {
	case f.data = <-spare:
	default:
	}
	f.data = memory.Resize(f.data, int(n))
	_, err = io.ReadFull(conn, f.data)
	return f, err
}

// join keeps a connection with a rank.
func (t *TCP) join(rank int, conn net.Conn) {
	c := &connection{Conn: conn, rank: rank}
	l := &link{frames: make(chan frame, framesAhead), spare: make(chan []byte, 1), send: func(f frame) error {
		c.writing.Lock()
		defer c.writing.Unlock()
		return write(c, f)
	}}
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.links[rank] = l
	t.conns = append(t.conns, c)
	t.reading.Go(func() { t.follow(c, l) })
}

// follow takes what a rank sends. It does so while this rank is busy as well, and so hears at once that the other is lost.
func (t *TCP) follow(c *connection, l *link) {
	const most = 1 << 40
	for {
		f, err := read(c, most, l.spare)
		if err != nil {
			t.end(fmt.Errorf("rank %d (%s) is lost: its process was killed, or its host or the network failed; "+
				"once all ranks are started again, 'w2vcl resume' goes on from the last checkpoint", c.rank, c.RemoteAddr()))
			return
		}
		if f.call == callEnd {
			var e ending
			if err := json.Unmarshal(f.data, &e); err == nil && e.Why != "" {
				t.end(e)
			}
			return
		}
		select {
		case l.frames <- f:
		case <-t.ended:
			return
		}
	}
}

// An ending is why a rank ends, as it tells the others.
type ending struct {
	Why  string // "": all is done
	Code int    // of the processes
}

func (e ending) Error() string { return e.Why }

// leave tells the others that this rank ends. Who does not hear it sees that the connection ends.
func (t *TCP) leave(e ending) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	deadline := time.Now().Add(3 * time.Second)
	for _, c := range t.conns { // which also ends what was being sent
		_ = c.SetDeadline(deadline)
	}
	for _, c := range t.conns {
		c.writing.Lock()
		_ = writeJSON(c, callEnd, e)
		c.writing.Unlock()
	}
}

// last tells the others, and then the program, why all end.
func (t *TCP) last(why error) {
	e := ending{why.Error(), 1}
	errors.As(why, &e)
	t.leave(e)
	t.options.End(e.Code, e.Why)
}

// Abort ends all ranks.
func (t *TCP) Abort(code int) {
	t.end(ending{fmt.Sprintf("rank %d has ended all ranks", t.rank), code})
}

// Close leaves the other ranks. All ranks call it, after their last call.
func (t *TCP) Close() (err error) {
	if t.stop(net.ErrClosed) {
		t.leave(ending{})
	}
	t.reading.Wait()
	for _, c := range t.conns {
		err = errors.Join(err, c.Close())
	}
	return err
}
