//go:build gpu

package cl

import (
	"cmp"
	"slices"

	"github.com/w2vcl/w2vcl/kernels/cuda"
	"gorgonia.org/cu"
)

// shareLists are the rows that have a share of an iteration's samples, for a series of
// iterations: see shares.cu.
type shareLists struct {
	count, list cu.Function
	params      cu.DevicePtr // shareArgs
	segments    int

	several cu.DevicePtr // shares of the rows of several slots
	single  cu.DevicePtr // (series, ones) shares of the rows of one slot
	singles cu.DevicePtr // (series)
	next    cu.DevicePtr // (2, series)
	ones    int
	rowsOf  [classes]uint32 // of several
	tiles   int             // of a step, at most
}

// A share is Share of tempered.cuh.
type share struct{ row, slot, slots, updates uint32 }

// shareArgs is ShareArgs of shares.cu.
type shareArgs struct {
	several, ones, lengths, phases, slots, single, singles, counts, samples, next, losses uint64
	severalRows, oneRows, contexts, segments                                              uint32
	lossCount                                                                             uint64
}

// The shape of shares.cu.
const (
	shareThreads = 256
	shareSegment = 16 * shareThreads // rows
)

// classes is the number of classes of rows by their warps: all of a thread block, 4, 2, 1.
const classes = 4

// samplesOfWarp is the most samples of a row that one warp trains. Rows of more have the
// warps of the first class that suffices, or all.
const samplesOfWarp = 16

// byLength returns the rows of several slots, of most first, and those of one.
func (s *Shares) byLength() (several []share, ones []uint32) {
	for i, length := range s.Lengths {
		switch width := s.Slots[i+1] - s.Slots[i]; {
		case length == 0:
		case width == 1:
			ones = append(ones, uint32(i))
		default:
			several = append(several, share{row: uint32(i), slot: s.Slots[i], slots: width})
		}
	}
	slices.SortStableFunc(several, func(a, b share) int { return cmp.Compare(b.slots, a.slots) })
	return several, ones
}

// classOf returns the class of a row of so many slots, for thread blocks of so many warps.
func classOf(slots uint32, warps int) int {
	for c := classes - 1; c > 0; c-- {
		if slots <= samplesOfWarp*uint32(warpsOfClass(c, warps)) {
			return c
		}
	}
	return 0
}

func warpsOfClass(class, warps int) int { return [classes]int{warps, 4, 2, 1}[class] }

// newShareLists takes the device's memory for a series, for thread blocks of so many warps.
func (k *Kernels) newShareLists(a *cuda.Allocator, s *Shares, warps int) *shareLists {
	several, ones := s.byLength()
	l := &shareLists{ones: len(ones), segments: (len(several) + len(ones) + shareSegment - 1) / shareSegment}
	for _, row := range several {
		l.rowsOf[classOf(row.slots, warps)]++
	}
	for c, rows := range l.rowsOf {
		together := warps / warpsOfClass(c, warps)
		if c == classes-1 {
			rows += uint32(l.ones)
		}
		l.tiles += (int(rows) + together - 1) / together
	}
	l.several = cuda.Placed(a, "rows of several samples", several)
	l.single = a.Bytes("rows of one sample", int(cuda.Bytes[share](k.series*l.ones)))
	l.singles = a.Bytes("rows of one sample", 4*k.series)
	l.next = a.Bytes("tiles", 4*2*k.series)
	k.losses = a.Floats("losses", 2*k.series*l.tiles)
	l.params = cuda.Placed(a, "arguments", []shareArgs{{
		several: uint64(l.several), ones: uint64(cuda.Placed(a, "rows of one sample", ones)),
		lengths: uint64(cuda.Placed(a, "lengths of rows", s.Lengths)), phases: uint64(cuda.Placed(a, "phases of rows", s.Phases)),
		slots: uint64(cuda.Placed(a, "slots of rows", s.Slots)), single: uint64(l.single), singles: uint64(l.singles),
		counts: uint64(a.Bytes("rows of segments", 8*k.series*l.segments)), samples: uint64(k.totals) + 8*steps, next: uint64(l.next), losses: uint64(k.losses),
		severalRows: uint32(len(several)), oneRows: uint32(len(ones)), contexts: uint32(s.Contexts), segments: uint32(l.segments),
		lossCount: uint64(2 * k.series * l.tiles),
	}})
	l.count, l.list = a.Function(built, "shares", "share_count", 0), a.Function(built, "shares", "share_list", 0)
	return l
}

// find starts to find the rows of count iterations from first on. It sets losses to zero, and
// how many samples a step of each iteration has.
func (l *shareLists) find(d *cuda.Device, first, count int) error {
	grid := cuda.Grid{Blocks: l.segments * count, Threads: shareThreads}
	if err := d.LaunchValues(l.count, grid, uint64(l.params), uint64(first)); err != nil {
		return err
	}
	return d.LaunchValues(l.list, grid, uint64(l.params), uint64(first))
}
