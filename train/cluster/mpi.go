//go:build mpi

package cluster

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"unsafe"

	"github.com/ebitengine/purego"
)

// MPI is a [Comm] of the processes that mpirun or srun started. It calls the host's MPI library, which it finds when the program
// runs, without cgo: Open MPI, MPICH and what has its binary interface (Intel MPI, MVAPICH), and libraries with the interface of
// MPI 5. These differ in constants only (abi.go).
//
// The build tag mpi puts it in: calling a library makes the program a dynamic one. Without the tag StartMPI refuses.
//
// Only the goroutine that called StartMPI may use it, but for Abort. To hand calls to another thread would cost more than a short call does.
// The goroutine changes its thread between calls, which the library must allow (MPI_THREAD_SERIALIZED).
type MPI struct {
	*library
	rank, size int

	// Functions of the library.
	allGatherV, allToAllV, abort, finalize, errorString uintptr

	counts [4][]int32 // and places, of a call
}

var _ Comm = (*MPI)(nil)

// StartMPI joins the processes of the launcher; a process without one is alone. It may be
// called once.
func StartMPI(launch Launch) (Process, error) {
	l, err := load()
	if err != nil {
		return nil, err
	}
	c := &MPI{library: l}
	var initThread, rank, size, onError uintptr
	for _, f := range []struct {
		function *uintptr
		name     string
	}{
		{&initThread, "MPI_Init_thread"}, {&rank, "MPI_Comm_rank"}, {&size, "MPI_Comm_size"}, {&onError, "MPI_Comm_set_errhandler"},
		{&c.allGatherV, "MPI_Allgatherv"}, {&c.allToAllV, "MPI_Alltoallv"},
		{&c.abort, "MPI_Abort"}, {&c.finalize, "MPI_Finalize"}, {&c.errorString, "MPI_Error_string"},
	} {
		if *f.function, err = purego.Dlsym(l.handle, f.name); err != nil {
			return nil, fmt.Errorf("%s: %w", l.File, err)
		}
	}
	if err := l.version(); err != nil {
		return nil, err
	}
	runtime.LockOSThread()
	numbers := new([3]int32)
	defer runtime.KeepAlive(numbers)
	if err := c.call("MPI_Init_thread", initThread, 0, 0, uintptr(c.serialized), address(&numbers[0])); err != nil {
		return nil, err
	}
	runtime.UnlockOSThread()
	if numbers[0] < c.serialized {
		return nil, fmt.Errorf("%s cannot be used by a program with several threads: MPI_Init_thread provides level %d", c.Version, numbers[0])
	}
	if err := errors.Join(c.call("MPI_Comm_set_errhandler", onError, c.world, c.errorsReturn),
		c.call("MPI_Comm_rank", rank, c.world, address(&numbers[1])),
		c.call("MPI_Comm_size", size, c.world, address(&numbers[2]))); err != nil {
		return nil, err
	}
	c.rank, c.size = int(numbers[1]), int(numbers[2])
	if launch.Size > 0 && c.size != launch.Size {
		c.Abort(1)
		return nil, fmt.Errorf("%s started %d processes, but %s knows of %d: it belongs to another launcher; name the library of this one with %s",
			launch.Launcher, launch.Size, c.Version, c.size, MPIVariable)
	}
	return c, nil
}

func (c *MPI) call(name string, function uintptr, arguments ...uintptr) error {
	result, _, _ := purego.SyscallN(function, arguments...)
	code := int32(result)
	if code == 0 {
		return nil
	}
	text, n := make([]byte, 1<<13), new(int32)
	purego.SyscallN(c.errorString, uintptr(code), pointer(text), address(n))
	defer runtime.KeepAlive(n)
	return fmt.Errorf("rank %d: %s: %s", c.rank, name, text[:*n])
}

// Rank is the number of this process.
func (c *MPI) Rank() int { return c.rank }

// Size is the number of processes.
func (c *MPI) Size() int { return c.size }

// errTooLong says that MPI counts with 32 bits.
var errTooLong = errors.New("a message between ranks would have more than 2 GiB")

// layout sets the sizes and places of parts, as MPI wants them: numbers 2·which and
// 2·which+1 of counts.
func (c *MPI) layout(which int, ends []int) (counts, places uintptr, err error) {
	x, y, last := c.counts[2*which][:0], c.counts[2*which+1][:0], 0
	for _, end := range ends {
		if end > math.MaxInt32 {
			return 0, 0, errTooLong
		}
		x, y, last = append(x, int32(end-last)), append(y, int32(last)), end
	}
	c.counts[2*which], c.counts[2*which+1] = x, y
	return pointer(x), pointer(y), nil
}

// The memory behind an address must not move: it lies on the heap, which never does,
// because it may go to sink.
func address(x *int32) uintptr {
	p := unsafe.Pointer(x)
	if kept {
		sink = p
	}
	return uintptr(p)
}

func pointer[T any](s []T) uintptr {
	p := unsafe.Pointer(unsafe.SliceData(s))
	if kept {
		sink = p
	}
	return uintptr(p)
}

var (
	kept bool           // never; the compiler does not know
	sink unsafe.Pointer //nolint:unused // that it is written is what it is for
)

// AllGather is MPI_Allgatherv.
func (c *MPI) AllGather(buffer []byte, ends []int) error {
	counts, places, err := c.layout(0, ends)
	if err != nil {
		return err
	}
	defer runtime.KeepAlive(buffer)
	return c.call("MPI_Allgatherv", c.allGatherV, c.inPlace, 0, c.byte, pointer(buffer), counts, places, c.byte, c.world)
}

// AllToAll is MPI_Alltoallv.
func (c *MPI) AllToAll(send []byte, sendEnds []int, recv []byte, recvEnds []int) error {
	sent, from, err := c.layout(0, sendEnds)
	if err != nil {
		return err
	}
	received, to, err := c.layout(1, recvEnds)
	if err != nil {
		return err
	}
	defer runtime.KeepAlive(send)
	defer runtime.KeepAlive(recv)
	return c.call("MPI_Alltoallv", c.allToAllV, pointer(send), sent, from, c.byte, pointer(recv), received, to, c.byte, c.world)
}

// Abort is MPI_Abort, from whichever thread: one that waits in a call cannot make it.
func (c *MPI) Abort(code int) { _ = c.call("MPI_Abort", c.abort, c.world, uintptr(code)) }

// Close leaves MPI. All ranks call it, after their last call.
func (c *MPI) Close() error { return c.call("MPI_Finalize", c.finalize) }
