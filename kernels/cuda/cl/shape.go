//go:build gpu

package cl

import (
	"fmt"
	"math"

	"gorgonia.org/cu"

	"github.com/w2vcl/w2vcl/kernels/cuda"
)

// This file knows which kernels there are for a size, and how they are launched.

// kernelSize returns the size of the kernels for the dimension: those for N up to 128 times
// it.
func (c Options) kernelSize() (int, error) {
	if !c.HalfPrecision {
		return cuda.KernelSize(c.Dim)
	}
	for _, size := range []int{1, 2, 3, 4, 6, 8} {
		if c.Dim <= 128*size {
			return size, nil
		}
	}
	return 0, fmt.Errorf("dimension is %d; the CUDA kernels take at most %d", c.Dim, cuda.MaxDim)
}

// A shape is how a step is launched.
type shape struct {
	blocks, warps, shared int // thread blocks, their warps and bytes of shared memory
	hot                   int // rows of right that thread blocks of columns.cu keep
	resident              int // thread blocks that run at a time
}

// denseShape is DenseShape of dense.cuh.
type denseShape struct{ shared, kept, end, _ uint32 }

// A tilesLaunch is the shape of a launch of a kernel that has eight rows at a time in a group of warps.
type tilesLaunch struct {
	shape
	dense denseShape
}

// denseKernel is DenseKernel of dense.cuh.
type denseKernel struct{ groups, chunk, ofGroup, ofChunk, ofEnd uint32 }

// The sources of kernels of tiles. The small kernels, which do not exist in every size, are for GPUs with too little shared memory for the others.
var (
	stepSources   = []string{"step", "step_small"}
	halfSources   = []string{"step_half"}
	errorsSources = []string{"stretch_errors", "stretch_errors_small"}
)

// loadDense loads the first kernel of a name in some sources whose thread blocks have room for so many shared negatives, and returns the shape of
// its launch: as many thread blocks as the multiprocessors have at a time. suffix ends the names of the sources.
func loadDense(d *cuda.Device, negatives int, sources []string, suffix, name string) (f cu.Function, x tilesLaunch, err error) {
	if d.MachineCode() { // all others are PTX alone
		sources = sources[:1]
	}
	for i, source := range sources {
		kernel, err := cuda.Constant[denseKernel](d, "cl/"+source+suffix, name+"_dense")
		switch {
		case err != nil && i == 0:
			return f, x, err
		case err != nil:
			continue // it has none of the size
		}
		x, ok := kernel.fit(d.SharedOfBlock, negatives)
		if !ok {
			continue
		}
		a := &cuda.Allocator{Device: d}
		f = a.Function("cl/"+source+suffix, name, x.shared)
		a.Do(func() error {
			resident, err := f.MaxActiveBlocksPerMultiProcessor(32*x.warps, int64(x.shared))
			x.blocks = d.Multiprocessors * resident
			return err
		})
		return f, x, a.Err
	}
	return f, x, fmt.Errorf("%d shared negatives do not fit into the shared memory of %s beside kernel %s", negatives, d.Name, name)
}

// fit chooses how many groups of warps a thread block has, and how many chunks of the shared negatives it keeps: all, or one if
// that is all there is shared memory for.
func (k denseKernel) fit(shared, negatives int) (x tilesLaunch, ok bool) {
	chunks := ceil(negatives, int(k.chunk))
	for _, kept := range []int{chunks, min(chunks, 1)} {
		for groups := int(k.groups); groups > 0; groups-- {
			const own = 2 << 10 // that the kernels have beside it
			end := kept*int(k.ofChunk) + groups*int(k.ofEnd)
			bytes := groups*int(k.ofGroup) + end + 4*negatives
			if bytes <= shared-own && (kept == chunks || groups == 1) {
				d := denseShape{shared: uint32(negatives), kept: uint32(kept), end: uint32(end)}
				return tilesLaunch{shape{warps: tileRows * groups, shared: bytes}, d}, true
			}
		}
	}
	return x, false
}

// A columnsKernel is how a kernel of one size is made: for so many thread blocks of a multiprocessor, of up to so many warps. Of
// several thread blocks the first are done earlier, and those of the next step are there when the last are.
type columnsKernel struct{ blocks, warps int }

var columnsKernels = map[int]columnsKernel{1: {2, 16}, 2: {3, 8}, 3: {2, 8}, 4: {2, 8}, 8: {2, 4}}

// The limits of columns.cu: targets of a part of a row, and bytes for barriers.
const targetsOfPart, barrierBytes = 8, 256

// fewTargets is up to how many targets of a row there are kernels without branches between them.
const fewTargets = 6

// mostHot limits the rows of right that a thread block keeps in shared memory where there is room, on several GPUs: they should be asked
// for more often than thread blocks bring them. One GPU takes 4% longer with them at N = 300.
const mostHot = 16

// choose returns the warps of a thread block, some at most. The warps of a GPU take groups of rows in rounds: fewer
// warps are better than a last round that is nearly empty. In a round each multiprocessor waits as long as it would train the
// groups of some other warps: 11 at N = 500.
func (s columnsKernel) choose(groups, multiprocessors, most, size int) int {
	best, least := most, math.MaxInt
	for warps := most; 2*warps >= most; warps-- {
		all := multiprocessors * s.blocks * warps
		if time := (groups + all - 1) / all * (44/size + s.blocks*warps); time < least {
			best, least = warps, time
		}
	}
	return best
}

// staged is the shape of a kernel whose rows wait in shared memory.
func (s columnsKernel) staged(d *cuda.Device, c Options, devices, size int) shape {
	const reserved = 1 << 10 // shared memory of a thread block that the driver takes
	targets := 1 + c.Negatives
	parts := (targets + targetsOfPart - 1) / targetsOfPart
	stage := ((targets+parts-1)/parts + 1) * 512 * size // of a warp
	room := (d.SharedOfBlock+reserved)/s.blocks - reserved - barrierBytes
	warps := s.choose((c.Rows+devices-1)/devices, d.Multiprocessors, min(s.warps, room/stage), size)
	row, hot := 512*size/devices, 0
	if devices > 1 {
		hot = max(min((room-warps*stage)/row, mostHot, c.Rows), 0)
	}
	return shape{warps: warps, hot: hot, shared: barrierBytes + warps*stage + hot*row}
}
