//go:build gpu

package cuda

import (
	"errors"

	"gorgonia.org/cu"
)

// NewCopyStream makes a stream for copies beside the kernels of the device's own stream. It does not wait for what is on no stream: fills,
// and copies of memory that is not pinned, which go on when their call has returned. So it is made when all that the copies need and
// overwrite is allocated and placed, and waits for that here.
func (d *Device) NewCopyStream() (cu.Stream, error) {
	if err := cu.Synchronize(); err != nil {
		return cu.Stream{}, err
	}
	return cu.MakeStream(cu.NonBlocking)
}

// An Aside is a second stream of a device, for work beside that on its own.
type Aside struct {
	device       *Device
	stream       cu.Stream
	begun, ended cu.Event
}

// NewAside makes a second stream, which is freed with the device. Where both have kernels to start, those of the second go
// first.
func (d *Device) NewAside() (*Aside, error) {
	a := &Aside{device: d}
	var err error
	if a.stream, err = cu.MakeStreamWithPriority(-1, cu.NonBlocking); err != nil {
		return nil, err
	}
	for _, e := range []*cu.Event{&a.begun, &a.ended} {
		if *e, err = cu.MakeEvent(cu.DisableTiming); err != nil {
			return nil, err
		}
	}
	d.asides = append(d.asides, a)
	return a, nil
}

// Do has f launch on the second stream, after all that the device was given before. What follows on the device's own
// stream runs beside it, until Join.
func (a *Aside) Do(f func() error) error {
	own := a.device.stream
	if err := a.begun.Record(own); err != nil {
		return err
	}
	if err := a.stream.Wait(a.begun, 0); err != nil {
		return err
	}
	a.device.stream = a.stream
	err := f()
	a.device.stream = own
	if err != nil {
		return err
	}
	return a.ended.Record(a.stream)
}

// Join has the device's own stream wait for what Do launched.
func (a *Aside) Join() error { return a.device.stream.Wait(a.ended, 0) }

func (a *Aside) free() error {
	return errors.Join(a.stream.Destroy(), cu.DestroyEvent(&a.begun), cu.DestroyEvent(&a.ended))
}
