//go:build gpu

package cl

import "gorgonia.org/cu"

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

// rowsSources are those of stretch_rows.cu, as stepSources.
var rowsSources = []stepSource{
	{"stretch_rows", map[int]stepKernel{1: {64, 2, 0}, 2: {64, 3, 0}, 3: {64, 3, 0}, 4: {64, 2, 0}, 8: {32, 1, 0}}},
	{"stretch_rows_small", map[int]stepKernel{3: {32, 1, 0}}},
}

// loadTiles loads the kernels whose thread blocks keep shared negatives, and finds the shapes of launches.
func (k *CBOW) loadTiles(size int) (err error) {
	s, c := &k.shapes, Options{Dim: k.options.Dim, SharedNegatives: k.options.SharedNegatives}
	for _, x := range []struct {
		of      *cu.Function
		to      *tilesLaunch
		size    int
		sources []stepSource
		name    string
	}{
		{&k.step, &s.step, size, stepSources, "step_" + k.optimizer.Kernels},
		{&k.ofWords, &s.words, size, rowsSources, "stretch_words"},
		{&k.rows, &s.rows, k.ownSize(), rowsSources, "stretch_rows_" + k.optimizer.Kernels},
	} {
		if *x.of, *x.to, err = c.loadDense(k.device, x.size, x.sources, "", x.name); err != nil {
			return err
		}
	}
	if s.means, err = k.means.MaxActiveBlocksPerMultiProcessor(32*warpsOfPlaces, int64(k.tileShared(false))); err != nil {
		return err
	}
	s.places, err = k.places.MaxActiveBlocksPerMultiProcessor(32*warpsOfPlaces, int64(k.tileShared(true)))
	return err
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
