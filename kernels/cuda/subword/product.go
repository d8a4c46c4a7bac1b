//go:build gpu

package subword

import (
	"fmt"

	"github.com/w2vcl/w2vcl/kernels/cuda"
	"gorgonia.org/cu"
)

// productArgs is Product of product.cu.
type productArgs struct {
	a, b             narrowMatrix
	c, bias, add     cu.DevicePtr
	m, n, k, strideC uint32
	chunk            uint32
	unit             float32
	sums, lines      uint32
}

// A product is how a product of matrices is launched.
type product struct {
	kernel        cu.Function
	grid          cuda.Grid
	chunk, chunks int // of k
	sums, lines   uint32
	across        int // thread blocks for 128 rows, of which there may be fewer than m; 0: the grid is for any number
}

// product chooses how an (m, n) product over k is launched: by tiles of 128
// columns unless narrower ones leave fewer of them empty. Unless sums is 0, so many are computed apart, each over k and in chunks
// of it, so that there are thread blocks for the whole device; the devices of a group divide them.
func (a *allocator) product(name string, m, n, k, sums int) product {
	if name == "rows" {
		if p := a.strips(m, n, k); p.grid.Blocks > 0 {
			return p
		}
	}
	const depth = 64
	tile := 128
	if (n+63)/64%2 == 1 {
		tile = 64
	}
	p := product{chunk: (k + 31) / 32 * 32, chunks: 1, sums: 1}
	across := (n + tile - 1) / tile
	blocks := (m + 127) / 128 * across
	if p.across = across; sums > 0 {
		want := max(1, 2*a.Device.Multiprocessors/(blocks*sums))
		p.chunk = ((k+want-1)/want + depth - 1) / depth * depth
		p.chunks = (k + p.chunk - 1) / p.chunk
		blocks *= p.chunks * sums / a.of
		p.chunks *= sums
		p.sums, p.lines, p.across = uint32(sums/a.of), uint32(a.of), 0
	}
	p.grid = cuda.Grid{Blocks: blocks, Threads: 2 * tile, Shared: 3 * 2 * depth * (128 + tile)}
	p.kernel = a.Function("subword/product", fmt.Sprintf("product_%s_%d", name, tile), p.grid.Shared)
	return p
}

// strips chooses how the rows of a product are launched, in strips: see product.cu. There are no thread blocks if
// one has too little shared memory.
func (a *allocator) strips(m, n, k int) (p product) {
	const stripM, stripN, stages = 48, 128, 3
	depth, count := (k+15)/16*16, (n+stripN-1)/stripN
	shared := 2*depth*(stripN+8) + stages*stripM*(2*(depth+8)+4*(stripN+8))
	if shared > a.Device.SharedOfBlock {
		return p
	}
	p = product{chunk: ((n+count-1)/count + 7) / 8 * 8, chunks: 1}
	count = (n + p.chunk - 1) / p.chunk
	p.grid = cuda.Grid{Blocks: count * max(1, min(a.Device.Multiprocessors/count, (m+stripM-1)/stripM)), Threads: 384, Shared: shared}
	p.kernel = a.Function("subword/product", "product_strips", shared)
	return p
}

// gradientUnits is that of subword.cuh.
const gradientUnits = 256

// multiply starts product number 0 to 2 of the CNN. In 1 and 2 a factor is the gradient.
func (x *cnn) multiply(number int, a productArgs) error {
	if a.unit = 1; number > 0 {
		a.unit = 1 / x.units
	}
	return x.products[number].launch(x.device, a, x.early)
}

// launch starts the product of its factors. It may be early only where the kernels just before write neither a nor b of the
// product features, and not b of strips. In lists.go they do.
func (p product) launch(d *cuda.Device, a productArgs, early bool) error {
	a.chunk, a.sums, a.lines = uint32(p.chunk), max(p.sums, 1), p.lines
	if p.across > 0 {
		p.grid.Blocks = (int(a.m) + 127) / 128 * p.across
	}
	return cuda.LaunchEarly(d, p.kernel, p.grid, &a, early)
}
