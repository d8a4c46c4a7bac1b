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

// A stepKernel is how a kernel of one size is made: how many negatives a chunk has, the groups of warps of a thread block, at most, and
// how many rows of positives of a warp wait in shared memory.
type stepKernel struct{ chunk, groups, staged int }

// A stepSource is a source of kernels whose thread blocks keep shared negatives, with its kernels by their sizes.
type stepSource struct {
	name    string
	kernels map[int]stepKernel
}

var (
	// stepSources are those of float32. The second has small chunks, for GPUs with too little shared memory for the first.
	stepSources = []stepSource{
		{"step", map[int]stepKernel{1: {64, 1, 8}, 2: {64, 2, 4}, 3: {64, 2, 2}, 4: {64, 2, 0}, 8: {32, 1, 0}}},
		{"step_small", map[int]stepKernel{2: {32, 2, 1}, 3: {32, 1, 1}}},
	}
	halfSources = []stepSource{
		{"step_half", map[int]stepKernel{1: {64, 1, 8}, 2: {64, 1, 4}, 3: {64, 1, 4}, 4: {64, 2, 4}, 6: {64, 1, 2}, 8: {64, 1, 2}}},
	}
)

// rowsSources are those of stretch_rows.cu, as stepSources.
var rowsSources = []stepSource{
	{"stretch_rows", map[int]stepKernel{1: {64, 2, 0}, 2: {64, 3, 0}, 3: {64, 3, 0}, 4: {64, 2, 0}, 8: {32, 1, 0}}},
	{"stretch_rows_small", map[int]stepKernel{3: {32, 1, 0}}},
}

// loadDense loads a kernel, which is one of a size, and returns the shape of its launch: as many thread blocks as the multiprocessors have at a time.
// suffix ends the name of the source.
func (c Options) loadDense(d *cuda.Device, size int, sources []stepSource, suffix, name string) (f cu.Function, x tilesLaunch, err error) {
	if d.MachineCode() { // all others are PTX alone
		sources = sources[:1]
	}
	source, x, err := c.stepShape(d.SharedOfBlock, size, sources)
	if err != nil {
		return f, x, fmt.Errorf("%w of %s", err, d.Name)
	}
	if f, err = d.Function("cl/"+source+suffix, name); err != nil {
		return f, x, err
	}
	if err := cuda.AllowShared(f, x.shared); err != nil {
		return f, x, err
	}
	resident, err := f.MaxActiveBlocksPerMultiProcessor(32*x.warps, int64(x.shared))
	x.blocks = d.Multiprocessors * resident
	return f, x, err
}

// stepShape chooses the first of the sources whose thread blocks have room for the shared negatives.
func (c Options) stepShape(shared, size int, sources []stepSource) (source string, x tilesLaunch, err error) {
	for _, s := range sources {
		if kernel, ok := s.kernels[size]; ok {
			if x, ok = c.fit(shared, size, kernel); ok {
				return s.name, x, nil
			}
		}
	}
	return "", x, fmt.Errorf("%d shared negatives of %d dimensions do not fit into the shared memory", c.SharedNegatives, c.Dim)
}

// fit chooses how many groups of warps a thread block has, up to some, and how many chunks of
// the shared negatives it keeps: all, or one if that is all there is shared memory for. See Dense of dense.cuh for the
// bytes that they take.
func (c Options) fit(shared, size int, kernel stepKernel) (x tilesLaunch, ok bool) {
	planes, chunk, wide := 2, kernel.chunk, 128*size
	if c.HalfPrecision {
		planes = 1
	}
	parts := tileRows * 16 / chunk
	ofGroup := tileRows * (4*(wide+4) + 2*planes*(wide+8) + 2*planes*(chunk+8) + 4*parts*(chunk+4))
	ofChunk := 2 * planes * chunk * (wide + 8)
	chunks := (c.SharedNegatives + chunk - 1) / chunk
	for _, kept := range []int{chunks, min(chunks, 1)} {
		for groups := kernel.groups; groups > 0; groups-- {
			const own = 2 << 10 // that the kernels have beside it
			end := kept*ofChunk + groups*tileRows*kernel.staged*2*planes*wide
			bytes := groups*ofGroup + end + 4*c.SharedNegatives
			if bytes <= shared-own && (kept == chunks || groups == 1) {
				d := denseShape{shared: uint32(c.SharedNegatives), kept: uint32(kept), end: uint32(end)}
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

// spanShared is the shared memory of a thread block that has places: see Span of stretch.cu.
func (k *CBOW) spanShared(ofNegatives bool) int {
	places := mostPlaces + 2*k.options.Window
	bytes := 16 * ceil(4*places+2*k.options.Window, 4)
	if ofNegatives {
		bytes += 4 * chunk * places
	}
	return bytes
}

// placesOfBlock returns how many places a thread block has, so that the thread blocks that run at a time, of so many, have about as many
// each.
func placesOfBlock(places, blocks int) int {
	return ceil(places, blocks*ceil(places, blocks*mostPlaces))
}
