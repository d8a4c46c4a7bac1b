//go:build gpu

package subword

import (
	"fmt"

	"github.com/w2vcl/w2vcl/kernels/cuda"
	"gorgonia.org/cu"
)

// productArgs is Product of product.cu.
type productArgs struct {
	a, b             splitMatrix
	c, bias, add     cu.DevicePtr
	m, n, k, strideC uint32
	chunk            uint32
	unit             float32
}

// A product is how a product of matrices is launched.
type product struct {
	narrow        bool // of float16 numbers
	kernel        cu.Function
	grid          cuda.Grid
	chunk, chunks int // of k
}

// Tiles of product.cu: of products of any size, of gradients of float16 numbers and about 192 features, and strips.
const (
	tileM, tileStages     = 128, 3
	wideRows, wideStages  = 144, 6 // of the gradient of features
	wideSide, wideColumns = 192, 128
	stripM, stripN        = 48, 128
)

// product chooses how an (m, n) product over k is launched: by tiles of 128
// columns unless narrower ones leave fewer of them empty. If split is set, chunks
// of k are summed apart, so that there are thread blocks for the whole device. A narrow product is one of
// float16 numbers.
func (a *allocator) product(name string, m, n, k int, split, narrow bool) product {
	if narrow {
		if p := a.narrowProduct(name, m, n, k); p.grid.Blocks > 0 {
			return p
		}
	}
	tile := 128
	if (n+63)/64%2 == 1 {
		tile = 64
	}
	p := product{narrow: narrow}
	planes := 2
	if narrow {
		planes, name = 1, "narrow_"+name
	}
	p.cut((m+tileM-1)/tileM*((n+tile-1)/tile), k, 2*a.Device.Multiprocessors, split)
	p.grid.Threads, p.grid.Shared = 2*tile, tileStages*planes*64*(tileM+tile)
	p.kernel = a.Function(built, "product", fmt.Sprintf("product_%s_%d", name, tile), p.grid.Shared)
	return p
}

// cut sets the chunks of k, and the thread blocks of so many tiles, of which want are to be there if k is split.
func (p *product) cut(tiles, k, want int, split bool) {
	p.chunk, p.chunks = (k+31)/32*32, 1
	if split {
		chunks := max(1, want/tiles)
		p.chunk = ((k+chunks-1)/chunks + 31) / 32 * 32
		p.chunks = (k + p.chunk - 1) / p.chunk
	}
	p.grid.Blocks = tiles * p.chunks
}

// narrowProduct chooses strips or the wide tiles for a narrow product; no thread blocks: neither would do.
func (a *allocator) narrowProduct(name string, m, n, k int) product {
	p := product{narrow: true, chunks: 1}
	full := func(features int) bool {
		return features > 0 && 3*((features+wideSide-1)/wideSide*wideSide) <= 4*features
	}
	switch {
	case name == "rows":
		depth, strips := (k+15)/16*16, (n+stripN-1)/stripN
		shared := 2*depth*(stripN+8) + 3*stripM*(2*(depth+8)+4*(stripN+8))
		if shared > a.Device.SharedOfBlock {
			return p
		}
		p.chunk = ((n+strips-1)/strips + 7) / 8 * 8
		strips = (n + p.chunk - 1) / p.chunk
		p.grid = cuda.Grid{Blocks: strips * max(1, min(a.Device.Multiprocessors/strips, (m+stripM-1)/stripM)), Threads: 384, Shared: shared}
		p.kernel = a.Function(built, "product", "product_strips", shared)
	case name == "features" && full(n):
		p.cut((m+wideRows-1)/wideRows*((n+wideSide-1)/wideSide), k, 0, false)
		p.wide(a, name, wideRows+wideSide)
	case name == "weights" && full(m-1):
		down := (m + wideSide - 1) / wideSide
		if (m-1)%wideSide == 0 {
			down-- // the ones, see product.cu
		}
		p.cut(down*((n+wideColumns-1)/wideColumns), k, a.Device.Multiprocessors, true)
		p.wide(a, name, wideSide+wideColumns)
	}
	return p
}

// wide loads a kernel of wide tiles with so many rows and columns together.
func (p *product) wide(a *allocator, name string, lines int) {
	p.grid.Threads, p.grid.Shared = 384, wideStages*64*lines
	if p.grid.Shared > a.Device.SharedOfBlock {
		p.grid.Blocks = 0
		return
	}
	p.kernel = a.Function(built, "product", "product_narrow_"+name+"_wide", p.grid.Shared)
}

// gradientUnits is that of subword.cuh.
const gradientUnits = 256

// multiply starts a product of the CNN. In products 1 and 2 a factor is the gradient.
func (x *cnn) multiply(number int, a productArgs) error {
	p := x.products[number]
	if a.unit = 1; p.narrow && number > 0 {
		a.unit = 1. / gradientUnits
	}
	a.chunk = uint32(p.chunk)
	return cuda.LaunchEarly(x.device, p.kernel, p.grid, &a, x.early)
}
