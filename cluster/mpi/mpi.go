//go:build mpi

package mpi

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"unsafe"

	"github.com/w2vcl/w2vcl/cluster"
)

// Built reports whether this program can use MPI.
const Built = true

// A Comm joins the processes of a launcher. One thread makes all calls of the library
// (MPI_THREAD_FUNNELED), whichever goroutine calls.
type Comm struct {
	*library
	rank, size int
	calls      chan func()
	finished   chan struct{}

	allGatherV  func(send uintptr, n int32, sent, recv uintptr, counts, places *int32, received, comm uintptr) int32
	allToAllV   func(send uintptr, sent, from *int32, sentType, recv uintptr, received, to *int32, receivedType, comm uintptr) int32
	allReduce   func(send, recv uintptr, n int32, kind, op, comm uintptr) int32
	exscan      func(send, recv uintptr, n int32, kind, op, comm uintptr) int32
	bcast       func(data uintptr, n int32, kind uintptr, root int32, comm uintptr) int32
	barrier     func(comm uintptr) int32
	abort       func(comm uintptr, code int32) int32
	finalize    func() int32
	errorString func(code int32, text *byte, n *int32) int32
}

var _ cluster.Comm = (*Comm)(nil)

// Start joins the processes of the launcher; a process without one is alone. It may be
// called once.
func Start() (*Comm, error) {
	l, err := load()
	if err != nil {
		return nil, err
	}
	c := &Comm{library: l, calls: make(chan func()), finished: make(chan struct{})}
	var initThread func(argc, argv uintptr, required int32, provided *int32) int32
	var rank, size func(comm uintptr, n *int32) int32
	var onError func(comm, handler uintptr) int32
	for _, f := range []struct {
		function any
		name     string
	}{
		{&initThread, "MPI_Init_thread"}, {&rank, "MPI_Comm_rank"}, {&size, "MPI_Comm_size"}, {&onError, "MPI_Comm_set_errhandler"},
		{&c.allGatherV, "MPI_Allgatherv"}, {&c.allToAllV, "MPI_Alltoallv"}, {&c.allReduce, "MPI_Allreduce"}, {&c.exscan, "MPI_Exscan"},
		{&c.bcast, "MPI_Bcast"}, {&c.barrier, "MPI_Barrier"}, {&c.abort, "MPI_Abort"}, {&c.finalize, "MPI_Finalize"}, {&c.errorString, "MPI_Error_string"},
	} {
		if err := l.call(f.function, f.name); err != nil {
			return nil, err
		}
	}
	if err := l.version(); err != nil {
		return nil, err
	}
	go c.serve()
	err = c.do("MPI_Init_thread", func() int32 {
		var provided, r, n int32
		if code := initThread(0, 0, c.funneled, &provided); code != 0 {
			return code
		}
		onError(c.world, c.errorsReturn)
		rank(c.world, &r)
		size(c.world, &n)
		c.rank, c.size = int(r), int(n)
		return 0
	})
	return c, err
}

// serve makes the calls, on a thread of its own.
func (c *Comm) serve() {
	runtime.LockOSThread()
	for call := range c.calls {
		call()
	}
	close(c.finished)
}

// do makes a call and returns its error.
func (c *Comm) do(name string, call func() int32) error {
	done := make(chan int32, 1)
	c.calls <- func() { done <- call() }
	code := <-done
	if code == 0 {
		return nil
	}
	text, n := make([]byte, 1<<13), int32(0)
	ready := make(chan struct{})
	c.calls <- func() { c.errorString(code, &text[0], &n); close(ready) }
	<-ready
	return fmt.Errorf("rank %d: %s: %s", c.rank, name, text[:n])
}

// Rank is the number of this process.
func (c *Comm) Rank() int { return c.rank }

// Size is the number of processes.
func (c *Comm) Size() int { return c.size }

// Library is the library in use.
func (c *Comm) Library() Library { return c.library.Library }

// errTooLong says that MPI counts with 32 bits.
var errTooLong = errors.New("a message of more than 2 GiB")

// layout returns the sizes and places of parts, as MPI wants them.
func layout(ends []int) (counts, places []int32, err error) {
	last := 0
	for _, end := range ends {
		if end > math.MaxInt32 {
			return nil, nil, errTooLong
		}
		counts, places = append(counts, int32(end-last)), append(places, int32(last))
		last = end
	}
	return counts, places, nil
}

func pointer[T any](s []T) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(s))) }

// AllGather is MPI_Allgatherv.
func (c *Comm) AllGather(buffer []byte, ends []int) error {
	counts, places, err := layout(ends)
	if err != nil {
		return err
	}
	defer runtime.KeepAlive(buffer)
	return c.do("MPI_Allgatherv", func() int32 {
		return c.allGatherV(c.inPlace, 0, c.byte, pointer(buffer), &counts[0], &places[0], c.byte, c.world)
	})
}

// AllToAll is MPI_Alltoallv.
func (c *Comm) AllToAll(send []byte, sendEnds []int, recv []byte, recvEnds []int) error {
	sent, from, err := layout(sendEnds)
	if err != nil {
		return err
	}
	received, to, err := layout(recvEnds)
	if err != nil {
		return err
	}
	defer runtime.KeepAlive(send)
	defer runtime.KeepAlive(recv)
	return c.do("MPI_Alltoallv", func() int32 {
		return c.allToAllV(pointer(send), &sent[0], &from[0], c.byte, pointer(recv), &received[0], &to[0], c.byte, c.world)
	})
}

// AllReduce is MPI_Allreduce.
func (c *Comm) AllReduce(numbers []uint64, op cluster.Op) error {
	defer runtime.KeepAlive(numbers)
	join := c.sum
	if op == cluster.Max {
		join = c.max
	}
	return c.do("MPI_Allreduce", func() int32 {
		return c.allReduce(c.inPlace, pointer(numbers), int32(len(numbers)), c.uint64, join, c.world)
	})
}

// Exscan is MPI_Exscan, and zeros on rank 0.
func (c *Comm) Exscan(numbers []uint64) error {
	defer runtime.KeepAlive(numbers)
	err := c.do("MPI_Exscan", func() int32 {
		return c.exscan(c.inPlace, pointer(numbers), int32(len(numbers)), c.uint64, c.sum, c.world)
	})
	if c.rank == 0 {
		clear(numbers)
	}
	return err
}

// Bcast is MPI_Bcast.
func (c *Comm) Bcast(data []byte, root int) error {
	if len(data) > math.MaxInt32 {
		return errTooLong
	}
	defer runtime.KeepAlive(data)
	return c.do("MPI_Bcast", func() int32 { return c.bcast(pointer(data), int32(len(data)), c.byte, int32(root), c.world) })
}

// Barrier is MPI_Barrier.
func (c *Comm) Barrier() error {
	return c.do("MPI_Barrier", func() int32 { return c.barrier(c.world) })
}

// Abort is MPI_Abort, from whichever thread: one that waits in a call cannot make it.
func (c *Comm) Abort(code int) { c.abort(c.world, int32(code)) }

// Close leaves MPI. All ranks call it, after their last call.
func (c *Comm) Close() error {
	err := c.do("MPI_Finalize", c.finalize)
	close(c.calls)
	<-c.finished
	return err
}
