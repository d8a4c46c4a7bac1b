//go:build gpu

package cudatest

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/w2vcl/w2vcl/kernels/cuda"
	"github.com/w2vcl/w2vcl/kernels/cuda/nccl"
	"gorgonia.org/cu"
)

// An Exchange is one device's end of nccl.Comm for devices of one process, which may be on one GPU: it copies.
type Exchange struct {
	*meeting
	device *cuda.Device
	rank   int
}

// A meeting is where devices wait for each other.
type meeting struct {
	mu          sync.Mutex
	met         *sync.Cond
	here, turns int
	buffers     [][]cu.DevicePtr // of each rank
}

// Exchanges joins devices, each of which is used by a goroutine of its own.
func Exchanges(devices []*cuda.Device) []Exchange {
	m := &meeting{buffers: make([][]cu.DevicePtr, len(devices))}
	m.met = sync.NewCond(&m.mu)
	all := make([]Exchange, len(devices))
	for rank, d := range devices {
		all[rank] = Exchange{m, d, rank}
	}
	return all
}

func (m *meeting) wait() {
	m.mu.Lock()
	defer m.mu.Unlock()
	turn := m.turns
	if m.here++; m.here == len(m.buffers) {
		m.here = 0
		m.turns++
		m.met.Broadcast()
	}
	for m.turns == turn {
		m.met.Wait()
	}
}

// visit copies from the buffers of all ranks.
func (e Exchange) visit(buffers []cu.DevicePtr, copies func(from []cu.DevicePtr, rank int) error) error {
	err := e.device.Stream().Synchronize()
	e.buffers[e.rank] = buffers
	e.wait()
	for rank, from := range e.buffers {
		err = errors.Join(err, copies(from, rank))
	}
	err = errors.Join(err, e.device.Stream().Synchronize())
	e.wait()
	return err
}

func (e Exchange) copy(to []cu.DevicePtr, place int, from []cu.DevicePtr, part int, bytes []int64) (err error) {
	for i, n := range bytes {
		err = errors.Join(err, cu.MemcpyDtoDAsync(to[i]+cu.DevicePtr(int64(place)*n), from[i]+cu.DevicePtr(int64(part)*n), n, e.device.Stream()))
	}
	return err
}

// AllToAll is that of nccl.Comm.
func (e Exchange) AllToAll(send, recv []cu.DevicePtr, bytes []int64) error {
	return e.visit(send, func(from []cu.DevicePtr, rank int) error { return e.copy(recv, rank, from, e.rank, bytes) })
}

// AllGather is that of nccl.Comm.
func (e Exchange) AllGather(buffers []cu.DevicePtr, bytes []int64) error {
	return e.visit(buffers, func(from []cu.DevicePtr, rank int) error {
		if rank == e.rank {
			return nil
		}
		return e.copy(buffers, rank, from, rank, bytes)
	})
}

// Close does nothing.
func (Exchange) Close() error { return nil }

// Abort does nothing.
func (Exchange) Abort() {}

// SharedGPUVariable is the environment variable that lets NCCL 2.30 and later join several ranks on one GPU if it is 1.
const SharedGPUVariable = "NCCL_MULTI_RANK_GPU_ENABLE"

// OpenRanks opens a GPU for each rank, or skips the test. If ranks may share a GPU, they take the GPUs in turn.
func OpenRanks(t testing.TB, count int) []*cuda.Device {
	t.Helper()
	all, _, err := cuda.List()
	if err == nil && len(all) < count && os.Getenv(SharedGPUVariable) != "1" {
		err = fmt.Errorf("there are fewer GPUs than ranks; set %s=1 for NCCL 2.30 or later", SharedGPUVariable)
	}
	if err == nil {
		_, err = nccl.Find()
	}
	if err != nil {
		t.Skip(err)
	}
	var devices []*cuda.Device
	for i := range count {
		d, err := cuda.Open(i % len(all))
		Closes(t, d, err)
		devices = append(devices, d)
	}
	return devices
}

// A Comm is what nccl.Comm and Exchange have in common.
type Comm interface {
	AllToAll(send, recv []cu.DevicePtr, bytes []int64) error
	AllGather(buffers []cu.DevicePtr, bytes []int64) error
	Close() error
	Abort()
}

// Join makes a Part of each device, all at the same time, as processes do. A part gets what joins it to the others, by copies
// or by NCCL. The parts are closed at the end of the test, after what the test itself cleans up.
func Join[P interface{ Close() error }](t testing.TB, devices []*cuda.Device, byNCCL bool, part func(rank int, join func() (Comm, error)) (P, error)) []P {
	t.Helper()
	parts, copies, id := make([]P, len(devices)), Exchanges(devices), []byte(nil)
	if byNCCL {
		var err error
		if id, err = nccl.NewID(); err != nil {
			t.Fatal(err)
		}
	}
	OnAll(t, len(parts), func(rank int) (err error) {
		parts[rank], err = part(rank, func() (Comm, error) {
			if byNCCL {
				return nccl.Join(devices[rank], id, rank, len(devices))
			}
			return copies[rank], nil
		})
		return err
	})
	t.Cleanup(func() { OnAll(t, len(parts), func(rank int) error { return parts[rank].Close() }) })
	return parts
}

// OnAll calls f for so many ranks at the same time.
func OnAll(t testing.TB, ranks int, f func(rank int) error) {
	t.Helper()
	if err := errors.Join(cuda.Together(ranks, f)...); err != nil {
		t.Fatal(err)
	}
}
