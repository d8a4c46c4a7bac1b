//go:build gpu

package cl

import (
	"fmt"

	"gorgonia.org/cu"

	"github.com/w2vcl/w2vcl/kernels/cuda"
)

// cbowShapes are those of launches.
type cbowShapes struct {
	means, places     int         // thread blocks of a multiprocessor
	step, words, rows tilesLaunch // of kernels whose thread blocks keep shared negatives; rows is for the columns that the device has of W
}

// A tilesLaunch is the shape of a launch of a kernel that has eight rows at a time in a group of warps.
type tilesLaunch struct {
	shape
	dense denseShape
}

// negativesKernels are the kernels of stretch_rows.cu, whose thread blocks keep shared negatives, by their sizes.
var negativesKernels = map[int]stepKernel{1: {2, 0}, 2: {3, 0}, 3: {3, 0}, 4: {2, 0}, 8: {1, 0}}

func (k *CBOW) findShapes(size int) (err error) {
	s, own := &k.shapes, k.ownSize()
	for _, x := range []struct {
		to     *tilesLaunch
		of     cu.Function
		size   int
		kernel stepKernel
	}{
		{&s.step, k.step, size, stepKernels[0][size]}, {&s.words, k.ofWords, size, negativesKernels[size]}, {&s.rows, k.rows, own, negativesKernels[own]},
	} {
		if *x.to, err = k.shapeOf(x.of, x.size, x.kernel); err != nil {
			return err
		}
	}
	if s.means, err = k.means.MaxActiveBlocksPerMultiProcessor(32*warpsOfPlaces, int64(k.tileShared(false))); err != nil {
		return err
	}
	s.places, err = k.places.MaxActiveBlocksPerMultiProcessor(32*warpsOfPlaces, int64(k.tileShared(true)))
	return err
}

// shapeOf returns the shape of a launch, of as many thread blocks as the multiprocessors have at a time.
func (k *CBOW) shapeOf(f cu.Function, size int, kernel stepKernel) (s tilesLaunch, err error) {
	d, groups, shared, err := Options{Dim: k.options.Dim, SharedNegatives: k.options.SharedNegatives}.stepShape(k.device.SharedOfBlock, size, kernel)
	if err != nil {
		return s, fmt.Errorf("%w of %s", err, k.device.Name)
	}
	if err := cuda.AllowShared(f, shared); err != nil {
		return s, err
	}
	s = tilesLaunch{shape{warps: tileRows * groups, shared: shared}, d}
	resident, err := f.MaxActiveBlocksPerMultiProcessor(32*s.warps, int64(shared))
	s.blocks = k.device.Multiprocessors * resident
	return s, err
}

// tileShared is the shared memory of a thread block that has places: see Tile.
func (k *CBOW) tileShared(ofNegatives bool) int {
	places := mostPlaces + 2*k.options.Window
	bytes := 16 * ceil(4*places+2*k.options.Window, 4)
	if ofNegatives {
		bytes += 4 * chunk * places
	}
	return bytes
}

// placesOfBlock returns how many places a thread block has, so that the thread blocks that run at a time have about as many each.
func (k *CBOW) placesOfBlock(places, resident int) int {
	blocks := k.device.Multiprocessors * max(resident, 1)
	return ceil(places, blocks*ceil(places, blocks*mostPlaces))
}
