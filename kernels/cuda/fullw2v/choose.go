//go:build gpu

package fullw2v

import (
	"embed"
	"fmt"

	"github.com/w2vcl/w2vcl/kernels/cuda"
)

// A kernel is one for a shape, with the threads and the bytes of shared memory of its thread
// blocks.
type kernel struct {
	built           embed.FS
	source, name    string
	threads, shared int
}

// A rowPart is the part of every row that one warp of fullw2v.cu has: 4 f + e chunks. One warp
// trains a sentence, or, in a team, as many as rows need.
type rowPart struct {
	f, e int
	team bool
}

func (p rowPart) chunks() int { return 4*p.f + p.e }

// shapes are the kernels of fullw2v.cu.
var shapes = []struct {
	outputs  int   // of a window, at most
	together []int // context words at a time: the second where it divides the window and the first does not
	parts    []rowPart
}{
	{6, []int{6, 5}, []rowPart{{1, 0, false}, {2, 0, false}, {2, 2, false}, {3, 0, false}, {2, 0, true}}},
	{11, []int{2}, []rowPart{{1, 0, false}, {1, 0, true}, {1, 1, true}}},
	{16, []int{2}, []rowPart{{1, 0, false}, {1, 0, true}, {1, 1, true}}},
}

// slots are the places of a ring of rows: for a window and the word that enters next.
func slots(radius int) int { return 2*radius + 2 }

// kernel chooses the kernel.
func (c *Config) kernel() (kernel, error) {
	size, err := cuda.KernelSize(c.Dim)
	if err != nil {
		return kernel{}, err
	}
	if c.HalfPrecision {
		groups := (slots(c.Radius) + 7) / 8
		row := 512*size + 16 // bytes
		return kernel{built, "fullw2v_half", fmt.Sprintf("fullw2v_half_%d_%d", size, groups), 32, (groups*8 + slots(c.Radius)) * row}, nil
	}
	return c.floatKernel(), nil
}

// floatKernel chooses a kernel of fullw2v.cu: the one that covers rows with the fewest chunks,
// and windows with the fewest context words too many.
func (c *Config) floatKernel() kernel {
	i := 0
	for shapes[i].outputs < 1+c.Negatives {
		i++
	}
	shape := shapes[i]
	part, warps := c.rowPart(shape.parts)
	together := shape.together[0]
	for _, n := range shape.together {
		if 2*c.Radius%together != 0 && 2*c.Radius%n == 0 {
			together = n
		}
	}
	rows, coefficients := 2*slots(c.Radius)+1, together*8
	if shape.outputs > 8 {
		coefficients *= 2
	}
	if shape.outputs*part.chunks() > 24 {
		rows += shape.outputs // of the next window: see staged in fullw2v.cu
	}
	name, dots := "fullw2v_", 0
	if part.team {
		name, dots = name+"team_", 2*64 // that warps exchange
	}
	return kernel{
		built, "fullw2v", fmt.Sprintf("%s%d_%d_%d_%d", name, part.f, part.e, shape.outputs, together),
		32 * warps, 4 * warps * (rows*chunkValues*part.chunks() + coefficients + dots),
	}
}

// rowPart chooses the part of a row for a warp, and the number of warps, that cover the row with
// the fewest chunks.
func (c *Config) rowPart(among []rowPart) (part rowPart, warps int) {
	for _, p := range among {
		w := (chunks(c.Dim) + p.chunks() - 1) / p.chunks()
		if (p.team || w == 1) && (warps == 0 || w*p.chunks() < warps*part.chunks()) {
			part, warps = p, w
		}
	}
	return part, warps
}
