//go:build gpu

package cl

import (
	"gorgonia.org/cu"

	"github.com/w2vcl/w2vcl/kernels/cuda"
)

// jobLists are what the warps of step.cuh have to do in the iterations of a series: see
// shares.cu.
type jobLists struct {
	count, list cu.Function
	params      cu.DevicePtr // shareArgs
	segments    int
	most        int // jobs of a step

	jobs   cu.DevicePtr // (series, most) job
	tiles  cu.DevicePtr // (series)
	next   cu.DevicePtr // (2, series)
	counts cu.DevicePtr // (series) samples of a step
}

// job is Job of job.cuh.
type job struct {
	row, slot, count, samples uint32
	scale, epsilon            float32
	piece, pieces             uint32
}

// shareArgs is ShareArgs of shares.cu.
type shareArgs struct {
	fixed, ones, lengths, phases, slots, jobs, tiles, counts, samples, next, losses uint64
	fixedJobs, oneRows, most, contexts, segments                                    uint32
	rule                                                                            cuda.Rule
	_                                                                               uint32
}

// The shape of shares.cu.
const (
	shareThreads = 256
	shareSegment = 16 * shareThreads // jobs
)

// jobsOf returns the jobs of those rows of a part that have several slots, tile by tile, of most slots first, and the rows of one.
func (s *Shares) jobsOf(rows part) (jobs []rowJob, ones []uint32) {
	var several []uint32
	width := func(row uint32) uint32 { return s.Slots[row+1] - s.Slots[row] }
	for i, length := range s.Lengths {
		switch row := uint32(i); {
		case length == 0 || i%rows.of != rows.number:
		case width(row) == 1:
			ones = append(ones, row)
		default:
			several = append(several, row)
		}
	}
	return appendTiles(nil, several, samplesOfWarp, width), ones
}

// newJobLists takes the device's memory for a series.
func (k *Kernels) newJobLists(a *cuda.Allocator) *jobLists {
	s := k.options.shares()
	fixed, ones := s.jobsOf(k.rows)
	jobs := max(len(fixed)+len(ones), 1)
	l := &jobLists{segments: (jobs + shareSegment - 1) / shareSegment, most: (jobs + tileRows - 1) / tileRows * tileRows}
	l.jobs = a.Bytes("jobs", int(cuda.Bytes[job](k.series*l.most)))
	l.tiles = a.Bytes("numbers of tiles", 4*k.series)
	l.next = a.Bytes("tiles handed out", 4*2*k.series)
	l.counts = a.Bytes("numbers of samples", 8*k.series)
	l.params = cuda.Placed(a, "arguments", []shareArgs{{
		fixed: uint64(cuda.Placed(a, "rows of several samples", fixed)), ones: uint64(cuda.Placed(a, "rows of one sample", ones)),
		lengths: uint64(cuda.Placed(a, "lengths of rows", s.Lengths)), phases: uint64(cuda.Placed(a, "phases of rows", s.Phases)),
		slots: uint64(cuda.Placed(a, "slots of rows", s.Slots)), jobs: uint64(l.jobs), tiles: uint64(l.tiles),
		counts: uint64(a.Bytes("rows of segments", 8*k.series*l.segments)), samples: uint64(l.counts), next: uint64(l.next), losses: uint64(k.losses),
		fixedJobs: uint32(len(fixed)), oneRows: uint32(len(ones)), most: uint32(l.most), contexts: uint32(s.Contexts), segments: uint32(l.segments),
		rule: k.optimizer.Rule(),
	}})
	l.count, l.list = a.Function("cl/shares", "share_count", 0), a.Function("cl/shares", "share_list", 0)
	return l
}

// find starts to find the jobs of count iterations from first on. It sets losses to zero, and
// how many samples a step of each iteration has.
func (l *jobLists) find(d *cuda.Device, first, count int) error {
	grid := cuda.Grid{Blocks: l.segments * count, Threads: shareThreads}
	if err := d.LaunchValues(l.count, grid, uint64(l.params), uint64(first)); err != nil {
		return err
	}
	return d.LaunchValues(l.list, grid, uint64(l.params), uint64(first))
}
