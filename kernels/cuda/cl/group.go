//go:build gpu

package cl

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"
	"time"
	"unsafe"

	"gorgonia.org/cu"

	"github.com/w2vcl/w2vcl/kernels/cuda"
)

// This file has several devices: Kernels with a part of the rows each (meet.cuh), or of the dimensions (columns.cuh).

// A Group trains W2V-CL on several devices as Kernels do on one: the same tables, to the bit, for any number of
// devices of one kind.
type Group struct{ parts []*Kernels }

// patience is how long a kernel waits for another device. A process that is stopped while it launches makes
// one wait.
const patience = 20 * time.Second

// An exchange lets a device exchange numbers with others, and one step with the next (columns.cu). The nil exchange
// has none.
type exchange struct {
	inboxes  cu.DevicePtr // (devices - 1, 2, warps, devices, messages) of {number, tag}; of parts of rows: see sharingArgs
	lost     cu.DevicePtr // whether a wait was given up
	told     cu.DevicePtr // how often warps told that they have only the last round of a step left
	tag      cu.DevicePtr // how many steps there were before a series, and one
	next     uint32       // tag
	bytes    int          // of the inbox of one other device
	messages int
	resident int // thread blocks that the GPU runs at a time
	patience time.Duration
	alone    bool       // no other device of the group shares the GPU
	peers    []*Kernels // number i is part number^i
	by       *messenger // of a Rank; nil: by peer memory
}

// NewGroup takes the memory of 2, 4 or 8 devices for training. All tables are zero. The devices must be
// connected (cuda.Connect) and of one kind.
func NewGroup(devices []*cuda.Device, c Options) (*Group, error) {
	if !slices.Contains([]int{2, 4, MaxDevices}, len(devices)) {
		return nil, fmt.Errorf("%d devices; there may be 2, 4 or %d", len(devices), MaxDevices)
	}
	g := &Group{}
	onGPU, common := map[int]int{}, shape{blocks: math.MaxInt, warps: math.MaxInt}
	for i, d := range devices {
		if err := sameKind(devices[0], d); err != nil {
			return nil, errors.Join(err, g.Close())
		}
		dims, rows := c.partsOf(i, len(devices))
		k, err := newKernels(d, c, dims, rows, nil)
		if err != nil {
			return nil, errors.Join(err, g.Close())
		}
		g.parts = append(g.parts, k)
		onGPU[d.Ordinal()]++
	}
	for _, k := range g.parts { // a warp exchanges numbers with the warps of its place on the other GPUs
		n := onGPU[k.device.Ordinal()]
		k.exchange.alone = n == 1
		common.warps, common.blocks = min(common.warps, k.shape.warps), min(common.blocks, k.shape.blocks, k.exchange.resident/n)
	}
	if common.blocks < 1 {
		return nil, errors.Join(fmt.Errorf("%d devices are too many for one GPU", slices.Max(slices.Collect(maps.Values(onGPU)))), g.Close())
	}
	for i, k := range g.parts {
		e := k.exchange
		k.shape.blocks, k.shape.warps, e.peers = common.blocks, common.warps, nil
		for j := range g.parts {
			e.peers = append(e.peers, g.parts[i^j])
		}
	}
	return g, nil
}

// sameKind refuses devices that do not give the same bits.
func sameKind(a, b *cuda.Device) error {
	if a.Capability != b.Capability || a.MachineCode() != b.MachineCode() {
		return fmt.Errorf("%s and %s round differently: take GPUs of one kind", a.Name, b.Name)
	}
	return nil
}

// newExchange returns the exchange of a device by itself. NewGroup makes its devices known to each other.
func (k *Kernels) newExchange(a *cuda.Allocator, by *messenger) *exchange {
	c := k.options
	e := &exchange{messages: 1 + c.Negatives, resident: k.shape.resident, next: 1, patience: patience, alone: true, peers: []*Kernels{k}, by: by}
	if k.rows.of > 1 {
		e.inboxes = a.Bytes("steps of other GPUs", 2*sharingBytes+4)
	} else if by != nil {
		e.bytes = int(MessageBytes(c.Rows, c.Negatives, 1))
		e.inboxes = a.Bytes("numbers of all GPUs", k.part.of*e.bytes)
	} else {
		e.bytes = 2 * 8 * k.shape.blocks * k.shape.warps * k.part.of * e.messages
		e.inboxes = a.Bytes("numbers of other GPUs", max((k.part.of-1)*e.bytes, 8))
	}
	e.lost = a.Bytes("whether a wait was given up", 4)
	e.tag = a.Bytes("a tag", 4)
	e.told = a.Bytes("how often warps told", 4)
	return e
}

// overlaps reports whether a step may begin while the one before it ends: not if its thread blocks may take the
// places of those that it waits for.
func (e *exchange) overlaps() bool { return e == nil || e.alone }

// inbox returns where the numbers of part number^i arrive.
func (e *exchange) inbox(i int) uint64 { return uint64(e.inboxes) + uint64((i-1)*e.bytes) }

// begin hands the device the tags of a series.
func (e *exchange) begin(d *cuda.Device, b *buffer) error {
	if e == nil {
		return nil
	}
	b.tag[0], b.tag[1] = e.next, 0
	e.next += uint32(2 * b.count)
	return cu.MemcpyHtoDAsync(e.tag, unsafe.Pointer(&b.tag[0]), 4, d.Stream())
}

// end asks whether a wait was given up.
func (e *exchange) end(d *cuda.Device, b *buffer) error {
	if e == nil {
		return nil
	}
	return cu.MemcpyDtoHAsync(unsafe.Pointer(&b.tag[1]), e.lost, 4, d.Stream())
}

func (e *exchange) check(b *buffer) error {
	if e == nil || b.tag[1] == 0 {
		return nil
	}
	return fmt.Errorf("another GPU of the run did not answer within %v", e.patience)
}

// each calls f for all parts at the same time.
func (g *Group) each(f func(k *Kernels) error) error {
	return errors.Join(cuda.Together(len(g.parts), func(i int) error { return f(g.parts[i]) })...)
}

// SeriesLength is that of Kernels.
func (g *Group) SeriesLength() int { return g.parts[0].SeriesLength() }

// Samples is that of Kernels. All parts read the same memory.
func (g *Group) Samples(buffer int) ([]uint32, error) {
	samples, err := g.parts[0].Samples(buffer)
	for _, k := range g.parts[1:] {
		k.buffers[buffer].samples = samples
	}
	return samples, err
}

// SetMatrix is that of Kernels. Each device gets M.
func (g *Group) SetMatrix(m Matrix) error {
	return g.each(func(k *Kernels) error { return k.SetMatrix(m) })
}

// Start is that of Kernels.
func (g *Group) Start(buffer, first int, rates []float64) error {
	return g.each(func(k *Kernels) error { return k.Start(buffer, first, rates) })
}

// Wait is that of Kernels. Parts of the dimensions have all the same losses, parts of the rows those of their rows.
func (g *Group) Wait(buffer int) (losses, samples []float64, err error) {
	of := make([][2][]float64, len(g.parts))
	err = g.each(func(k *Kernels) (err error) {
		at := &of[k.part.number+k.rows.number]
		at[0], at[1], err = k.Wait(buffer)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	losses, samples = of[0][0], of[0][1]
	for n, k := range g.parts {
		for i := range losses {
			if n > 0 && k.rows.of > 1 {
				losses[i] += of[n][0][i]
				samples[i] += of[n][1][i]
			}
		}
	}
	return losses, samples, nil
}

// Send is that of Kernels.
func (g *Group) Send(name string, values []float32) error {
	return g.each(func(k *Kernels) error { return k.Send(name, values) })
}

// Receive is that of Kernels.
func (g *Group) Receive(name string, values []float32) error {
	return g.each(func(k *Kernels) error { return k.Receive(name, values) })
}

// Close frees the memory that closing the devices does not free.
func (g *Group) Close() error {
	idle := g.each(func(k *Kernels) error { return k.device.Do(func() error { return k.device.Stream().Synchronize() }) })
	for _, k := range g.parts[min(1, len(g.parts)):] {
		for i := range k.buffers {
			k.buffers[i].samples = nil // part 0 has allocated it
		}
	}
	return errors.Join(idle, g.each((*Kernels).Close))
}

// Parts returns the Kernels of the devices.
func (g *Group) Parts() []*Kernels { return g.parts }

// Number returns which of how many devices has these rows: the rows number, number + of, ...
func (k *Kernels) Number() (number, of int) { return k.rows.number, k.rows.of }

// OwnRows returns this device's rows of (rows, width) values, PutRows is the way back.
func (k *Kernels) OwnRows(values []float32, width int) []float32 {
	return pickRows(values, k.rows, width)
}

func (k *Kernels) PutRows(values, own []float32, width int) { putRows(values, own, k.rows, width) }

// linesArgs is Lines of lines.cu.
type linesArgs struct {
	from        cu.DevicePtr
	to          [MaxDevices - 1]cu.DevicePtr
	line, meets uint32
	sharing     sharingArgs
}

// Share starts to bring this device's lines of some memory, which are every of-th as its rows are, to the other devices of a group. of is
// where a device has this memory, and line the bytes of a line, whole float4s. If the devices meet, all of them have all lines when it is
// done.
func (k *Kernels) Share(of func(k *Kernels) cu.DevicePtr, lines, line int, meet bool) error {
	own := k.rows.count(lines)
	a := linesArgs{from: of(k), line: uint32(line / 16), sharing: k.sharingArgs(1, sharingBytes)}
	for i, peer := range k.exchange.peers[1:] {
		a.to[i] = of(peer)
	}
	if meet {
		a.meets = 1
	}
	a.sharing.own, a.sharing.tag = uint32(own), a.sharing.blocks+4
	blocks := min((own*line/16+255)/256, k.device.Multiprocessors)
	return cuda.Launch(k.device, k.shareLines, cuda.Grid{Blocks: max(blocks, 1), Threads: 256}, &a)
}

// whole is the part of a single device.
var whole = part{0, 1}

// partsOf returns what each of some devices has.
func (c Options) partsOf(number, of int) (dims, rows part) {
	if c.SplitsRows() {
		return whole, part{number, of}
	}
	return part{number, of}, whole
}

// sharingArgs is Sharing of meet.cuh.
type sharingArgs struct {
	copies                            [MaxDevices - 1]uint64
	tag, blocks, done                 uint64
	told                              [MaxDevices - 1]uint64
	lost                              [MaxDevices]uint64
	patience                          uint64
	number, others, shift, first, own uint32
	_                                 uint32
}

// A device has in exchange.inboxes the steps that the others are done with, and behind them how many of its own thread
// blocks are done; then the same of Share, and how often it has met the others there.
const sharingBytes = 4 * MaxDevices

// sharing names the sources of kernels that share the rows.
func (k *Kernels) sharing() string {
	if k.rows.of > 1 {
		return "_rows"
	}
	return ""
}

// sharingArgs are those of step number i of a series: at is 0, or where in exchange.inboxes Share has its own.
func (k *Kernels) sharingArgs(i, at int) (a sharingArgs) {
	e, offset := k.exchange, cu.DevicePtr(at)
	if k.rows.of == 1 {
		return a
	}
	a = sharingArgs{
		tag: uint64(e.tag), done: uint64(e.inboxes + offset), blocks: uint64(e.inboxes + offset + 4*(MaxDevices-1)), patience: uint64(e.patience), number: uint32(i),
		others: uint32(len(e.peers) - 1), shift: uint32(bits.TrailingZeros(uint(k.rows.of))), first: uint32(k.rows.number), own: uint32(k.rows.count(k.options.Rows)),
	}
	for n, peer := range e.peers {
		a.lost[n] = uint64(peer.exchange.lost)
		if n > 0 { // to that one, this device is number n, too
			a.copies[n-1], a.told[n-1] = uint64(peer.tables[i%2].values), uint64(peer.exchange.inboxes+offset+cu.DevicePtr(4*(n-1)))
		}
	}
	return a
}
