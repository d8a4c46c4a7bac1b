//go:build gpu

package subword

import (
	"fmt"
	"math"

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
}

// A product is how a product of matrices is launched.
type product struct {
	kernel        cu.Function
	grid          cuda.Grid
	chunk, chunks int // of k
}

// product chooses how an (m, n) product over k is launched: by tiles of 128
// columns unless narrower ones leave fewer of them empty. If split is set, chunks
// of k are summed apart, so that there are thread blocks for the whole device.
func (a *allocator) product(name string, m, n, k int, split bool) product {
	if p := a.special(name, m, n, k); p.grid.Blocks > 0 {
		return p
	}
	const depth = 64
	tile := 128
	if (n+63)/64%2 == 1 {
		tile = 64
	}
	p := product{chunk: (k + 31) / 32 * 32, chunks: 1}
	blocks := (m + 127) / 128 * ((n + tile - 1) / tile)
	if split {
		want := max(1, 2*a.Device.Multiprocessors/blocks)
		p.chunk = ((k+want-1)/want + depth - 1) / depth * depth
		p.chunks = (k + p.chunk - 1) / p.chunk
		blocks *= p.chunks
	}
	p.grid = cuda.Grid{Blocks: blocks, Threads: 2 * tile, Shared: 3 * 2 * depth * (128 + tile)}
	p.kernel = a.Function("subword/product", fmt.Sprintf("product_%s_%d", name, tile), p.grid.Shared)
	return p
}

// special chooses a kernel for the default features. There are no thread blocks if none fits.
func (a *allocator) special(name string, m, n, k int) (p product) {
	if a.Device.MachineCode() {
		p = a.hopper(name, m, n, k)
	}
	if name == "rows" && p.grid.Blocks == 0 {
		return a.strips(m, n, k)
	}
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

// hopper chooses how a product is launched by the kernels of hopper.cu. There are no thread blocks if it is too small for them.
func (a *allocator) hopper(name string, m, n, k int) (p product) {
	const aligned, line, depth = 1024, 128, 64
	p = product{chunk: k, chunks: 1}
	switch {
	case name == "features" && n <= 192:
		const words, features, stages = 144, 192, 5
		p.grid = cuda.Grid{Blocks: (m + words - 1) / words, Threads: 2 * features, Shared: aligned + stages*line*(features+words)}
	case name == "weights" && m <= 200:
		const dims, rows, stages = 128, 256, 4
		across := (n + dims - 1) / dims
		want := max(1, a.Device.Multiprocessors/across)
		p.chunk = ((k+want-1)/want + depth - 1) / depth * depth
		p.chunks = (k + p.chunk - 1) / p.chunk
		p.grid = cuda.Grid{Blocks: across * p.chunks, Threads: 2 * dims, Shared: aligned + stages*depth*2*(dims+rows)}
	case name == "rows" && k <= 192:
		const strip, most, groups, tile = 128, 192, 3, 64
		best := math.MaxInt // columns of the tiles that one after the other are multiplied
		for count := (n + strip - 1) / strip; count <= min((n+15)/16, a.Device.Multiprocessors); count++ {
			chunk := ((n+count-1)/count + 15) / 16 * 16
			down := min(a.Device.Multiprocessors/count, (m+groups*tile-1)/(groups*tile))
			if columns := (m + down*groups*tile - 1) / (down * groups * tile) * chunk; columns < best {
				best, p.chunk = columns, chunk
				p.grid.Blocks = (n + chunk - 1) / chunk * down
			}
		}
		p.grid.Threads, p.grid.Shared = 128*groups, aligned+2*most*(strip+groups*tile)+4*groups*tile*strip
	default:
		return product{}
	}
	if p.grid.Shared > a.Device.SharedOfBlock {
		return product{}
	}
	p.kernel = a.Function("subword/hopper", "hopper_"+name, p.grid.Shared)
	return p
}

// gradientUnits is that of subword.cuh.
const gradientUnits = 256

// multiply starts product number 0 to 2 of the CNN. In 1 and 2 a factor is the gradient.
func (x *cnn) multiply(number int, a productArgs) error {
	if a.unit = 1; number > 0 {
		a.unit = 1. / gradientUnits
	}
	return x.products[number].launch(x.device, a)
}

// launch starts the product of its factors.
func (p product) launch(d *cuda.Device, a productArgs) error {
	a.chunk = uint32(p.chunk)
	return cuda.Launch(d, p.kernel, p.grid, &a)
}
