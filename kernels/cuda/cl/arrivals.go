//go:build gpu

package cl

import (
	"errors"
	"unsafe"

	"gorgonia.org/cu"

	"github.com/w2vcl/w2vcl/kernels/cuda"
)

// arrivals bring a device the stretch of an iteration, and make its jobs, beside the iteration before: on a stream of their own, into
// one of two areas by turns. For all other kernels this is as if the stretch came before them.
type arrivals struct {
	device *cuda.Device
	stream cu.Stream
	jobs   cu.Function // stretch_jobs, which nothing else runs beside it uses the updates of
	areas  [2]area
	count  int // that came
	values int // of the lists of a stretch
}

// An area has a stretch on the device. All but the addresses is of the one that came last.
type area struct {
	stretchOfArgs
	arrived, done cu.Event
}

func (x *arrivals) allocate(a *cuda.Allocator, c CBOWOptions) {
	x.device, x.values, x.jobs = a.Device, c.values(), a.Function("cl/stretch", "stretch_jobs", 0)
	for i := range x.areas {
		x.areas[i].allocate(a, c)
	}
	a.Do(func() (err error) { x.stream, err = x.device.NewCopyStream(); return err })
}

func (r *area) allocate(a *cuda.Allocator, c CBOWOptions) {
	at := a.Floats("a stretch", c.values())
	lists := []*cu.DevicePtr{&r.words, &r.from, &r.to, &r.places, &r.rows, &r.slots, &r.negativePlaces, &r.negativeWords}
	for i, length := range c.lengths() {
		*lists[i] = at
		at += cu.DevicePtr(cuda.Bytes[uint32](length))
	}
	r.order = a.Bytes("a stretch", int(cuda.Bytes[rowJob](c.mostRowJobs())))
	r.jobs, r.tileCount, r.next = a.Bytes("jobs", int(cuda.Bytes[job](c.mostRowJobs()))), a.Floats("tiles", 1), a.Floats("tiles", 1)
	r.steps = a.Bytes("steps", int(cuda.Bytes[cuda.StepNumbers](2)))
	r.window = uint32(c.Window)
	for _, e := range []*cu.Event{&r.arrived, &r.done} {
		a.Do(func() (err error) { *e, err = cu.MakeEvent(cu.DisableTiming); return err })
	}
}

// begin starts to bring the stretch of a buffer, which takes the place of the one before the last, and says in args where it is. The
// device's stream waits for it.
func (x *arrivals) begin(b *cbowBuffer, args *stretchArgs) error {
	to := &x.areas[x.count%2]
	if err := x.stream.Wait(to.done, 0); err != nil {
		return err
	}
	s := &b.stretch
	to.count, to.rowCount, to.tiles = uint32(len(s.Words)), uint32(len(s.Rows)), uint32(len(s.order)/tileRows)
	args.stretch = to.stretchOfArgs
	err := errors.Join(copyAsync(to.words, s.all(x.values), x.stream), copyAsync(to.order, s.order, x.stream), copyAsync(to.steps, b.steps, x.stream))
	if err == nil {
		err = x.makeJobs(args, x.stream)
	}
	return errors.Join(err, to.arrived.Record(x.stream), x.device.Stream().Wait(to.arrived, 0))
}

// makeJobs starts stretch_jobs, whose thread blocks have 256 threads.
func (x *arrivals) makeJobs(args *stretchArgs, on cu.Stream) error {
	return cuda.LaunchOn(on, x.jobs, cuda.Grid{Blocks: ceil(int(args.stretch.tiles)*tileRows, 256), Threads: 256}, args)
}

// end marks in a stream, by the event that it returns, that the stretch which came last is not needed behind it.
func (x *arrivals) end(s cu.Stream) (cu.Event, error) {
	x.count++
	done := x.areas[(x.count-1)%2].done
	return done, done.Record(s)
}

// copyAsync starts to copy values of pinned memory, at least one.
func copyAsync[T any](to cu.DevicePtr, values []T, s cu.Stream) error {
	return cu.MemcpyHtoDAsync(to, unsafe.Pointer(&values[0]), cuda.Bytes[T](len(values)), s)
}

func (x *arrivals) free() error {
	err := x.stream.Destroy()
	for i := range x.areas {
		err = errors.Join(err, cu.DestroyEvent(&x.areas[i].arrived), cu.DestroyEvent(&x.areas[i].done))
	}
	return err
}
