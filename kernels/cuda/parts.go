//go:build gpu

package cuda

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"

	"gorgonia.org/cu"
)

// Large copies go in parts through pinned memory, which a device copies from and to at full speed. All processors fill
// parts, or read them, while the caller's thread copies others: what they do with values takes longer than the copy.

// partBytes is about how long a part is, and partThreads how many goroutines work on parts at most. To pin memory takes longer than to
// copy it, so there is little: 10 MB.
const (
	partBytes   = 512 << 10
	partThreads = 16
)

// SendParts sends n values, in groups of each, that fill makes. Several goroutines call fill with a part of whole groups, of any content, and
// the number of its first value.
func SendParts[T any](to cu.DevicePtr, n, each int, fill func(part []T, first int)) error {
	return withParts(n, each, func(p *parts[T]) error {
		return p.send(fill, func(part []T, first int) error { return Send(to+cu.DevicePtr(Bytes[T](first)), part) })
	})
}

// ReceiveParts is the way back: several goroutines call take with what was received.
func ReceiveParts[T any](from cu.DevicePtr, n, each int, take func(part []T, first int)) error {
	return withParts(n, each, func(p *parts[T]) error {
		return p.receive(func(part []T, first int) error { return Receive(part, from+cu.DevicePtr(Bytes[T](first))) }, take)
	})
}

// parts are memory for some parts at a time of n values. All but the last have length values.
type parts[T any] struct {
	memory    []T
	n, length int
}

// withParts calls f with memory for parts, which is pinned if there is more than one.
func withParts[T any](n, each int, f func(p *parts[T]) error) (err error) {
	p := &parts[T]{n: n, length: max(int(partBytes/Bytes[T](each)), 1) * each}
	if n <= p.length {
		p.memory = make([]T, n)
		return f(p)
	}
	count := min((n+p.length-1)/p.length, threadsOf(partThreads)+4)
	if p.memory, err = Pinned[T](count * p.length); err != nil {
		return err
	}
	return errors.Join(f(p), Unpin(p.memory))
}

// threadsOf returns how many goroutines work on so many parts.
func threadsOf(count int) int { return min(runtime.GOMAXPROCS(0), count, partThreads) }

// A filled part is in the memory of number slot.
type filled struct{ slot, part int }

// of returns the values of a part and the number of the first.
func (p *parts[T]) of(x filled) (values []T, first int) {
	first = x.part * p.length
	return p.memory[x.slot*p.length:][:min(p.length, p.n-first)], first
}

// slots returns a channel with the numbers of all slots, and how many parts there are.
func (p *parts[T]) slots() (free chan int, count int) {
	if p.n == 0 {
		return nil, 0
	}
	free = make(chan int, (len(p.memory)+p.length-1)/p.length)
	for slot := range cap(free) {
		free <- slot
	}
	return free, (p.n + p.length - 1) / p.length
}

// send calls fill for all parts, on several goroutines, and copies what was filled. After an error it only fills.
func (p *parts[T]) send(fill func(part []T, first int), copies func(part []T, first int) error) (err error) {
	free, count := p.slots()
	ready := make(chan filled, cap(free))
	var next atomic.Int64
	var working sync.WaitGroup
	defer working.Wait()
	for range threadsOf(count) {
		working.Go(func() {
			for part := int(next.Add(1)) - 1; part < count; part = int(next.Add(1)) - 1 {
				x := filled{<-free, part}
				fill(p.of(x))
				ready <- x
			}
		})
	}
	for range count {
		x := <-ready
		if err == nil {
			err = copies(p.of(x))
		}
		free <- x.slot
	}
	return err
}

// receive copies all parts, up to an error, and calls take for them on several goroutines.
func (p *parts[T]) receive(copies func(part []T, first int) error, take func(part []T, first int)) error {
	free, count := p.slots()
	ready := make(chan filled, cap(free))
	var working sync.WaitGroup
	defer working.Wait()
	defer close(ready)
	for range threadsOf(count) {
		working.Go(func() {
			for x := range ready {
				take(p.of(x))
				free <- x.slot
			}
		})
	}
	for part := range count {
		x := filled{<-free, part}
		if err := copies(p.of(x)); err != nil {
			return err
		}
		ready <- x
	}
	return nil
}

// Columns are some of the columns of a table on the host, which a device has as rows of stride values, with zeros behind.
type Columns struct{ First, Count, Stride int }

// SendRows sends (rows, columns) values to rows of stride values, with zeros behind.
func SendRows(to cu.DevicePtr, from []float32, columns, stride int) error {
	return SendColumns(to, from, columns, Columns{0, columns, stride})
}

// ReceiveRows is the way back.
func ReceiveRows(to []float32, from cu.DevicePtr, columns, stride int) error {
	return ReceiveColumns(to, from, columns, Columns{0, columns, stride})
}

// SendColumns sends some columns of (rows, width) values.
func SendColumns(to cu.DevicePtr, from []float32, width int, x Columns) error {
	if x.Count == 0 {
		return nil
	}
	return SendParts(to, len(from)/width*x.Stride, x.Stride, func(part []float32, first int) {
		x.each(part, first, width, func(padded []float32, at int) {
			clear(padded[copy(padded, from[at:][:x.Count]):])
		})
	})
}

// ReceiveColumns is the way back. It leaves other columns as they are.
func ReceiveColumns(to []float32, from cu.DevicePtr, width int, x Columns) error {
	if x.Count == 0 {
		return nil
	}
	return ReceiveParts(from, len(to)/width*x.Stride, x.Stride, func(part []float32, first int) {
		x.each(part, first, width, func(padded []float32, at int) { copy(to[at:][:x.Count], padded) })
	})
}

// each calls f for the rows of a part, with their values on the device and the place of these in a table of rows of width values.
func (x Columns) each(part []float32, first, width int, f func(padded []float32, at int)) {
	row := first / x.Stride
	for i := range len(part) / x.Stride {
		f(part[i*x.Stride:][:x.Stride], (row+i)*width+x.First)
	}
}
