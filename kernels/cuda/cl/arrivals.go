//go:build gpu

package cl

import (
	"errors"
	"unsafe"

	"gorgonia.org/cu"

	"github.com/w2vcl/w2vcl/kernels/cuda"
)

// arrivals copies the stretch of the next iteration to the device and makes its jobs while the current iteration trains. It has a stream
// of its own, and fills two areas by turns. For other kernels this is as if the stretch came before them.
type arrivals struct {
	device *cuda.Device
	stream cu.Stream
	jobs   cu.Function // stretch_jobs; no kernel that runs beside it uses its results
	areas  [2]area
	count  int // of stretches that came
	values int // in the lists of a stretch
}

// An area holds a stretch on the device. Everything but the addresses belongs to the stretch that came last.
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
	r.steps = a.Bytes("steps", int(cuda.Bytes[cuda.StepNumbers](3)))
	r.window = uint32(c.Window)
	for _, e := range []*cu.Event{&r.arrived, &r.done} {
		a.Do(func() (err error) { *e, err = cu.MakeEvent(cu.DisableTiming); return err })
	}
}

// begin starts to copy the stretch of a buffer to the area of the stretch before the last, and says in args where it is. The device's
// stream waits for the copy.
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

// end records an event in a stream and returns it. Work behind the event does not need the stretch that came last.
func (x *arrivals) end(s cu.Stream) (cu.Event, error) {
	x.count++
	done := x.areas[(x.count-1)%2].done
	return done, done.Record(s)
}

// copyAsync starts to copy one or more values from pinned memory.
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
