//go:build gpu

package cl

import (
	"cmp"
	"fmt"
	"math"

	"gorgonia.org/cu"

	"github.com/w2vcl/w2vcl/kernels/composed"
	"github.com/w2vcl/w2vcl/kernels/cuda"
)

// Narrow is Narrow of subword.cuh: a matrix of float16 numbers.
type Narrow struct {
	Values cu.DevicePtr
	Stride uint64
}

// Gradients is Gradients of subword.cuh: of composed rows, for their parts.
type Gradients struct {
	Rows             Narrow
	Weights, Trained cu.DevicePtr
}

// partsArgs is PartsArgs of parts.cu.
type partsArgs struct {
	parts                        cuda.Table
	composed, own                cu.DevicePtr
	starts, members, users, jobs cu.DevicePtr
	gradients                    Gradients
	step, updates, list, met     cu.DevicePtr
	rule                         cuda.Rule
	words, _                     uint32
}

// PartRows are rows of W that are composed of parts: the kernels of parts.cu, for CBOW and for skip-gram.
type PartRows struct {
	device                 *cuda.Device
	args                   partsArgs
	tiles                  int // of jobs
	compose, train, narrow cu.Function
}

// NewPartRows takes the memory of a composition beside its table of parts, and loads the kernels of an optimizer.
func NewPartRows(a *cuda.Allocator, x *composed.Composition, o cuda.Optimizer, parts cuda.Table) *PartRows {
	size, err := cuda.KernelSize(int(parts.Columns))
	if err == nil && int64(max(x.Words(), x.PartCount()))*int64(parts.Quads) > math.MaxUint32 {
		err = fmt.Errorf("tables of %d words and %d parts of dimension %d are larger than the kernels can address", x.Words(), x.PartCount(), x.Dim)
	}
	a.Err = cmp.Or(a.Err, err)
	p := &PartRows{device: a.Device}
	var l partLists
	a.Do(func() error { l = listsOf(x); p.tiles = len(l.jobs) / tileRows; return nil })
	most := len(x.Symbols)
	parts.Narrow = uint64(a.Bytes("parts", x.PartCount()*8*int(parts.Quads)))
	p.args = partsArgs{
		parts:  parts,
		starts: cuda.PlacedUpTo(a, "parts of words", x.Words()+1, l.starts), members: cuda.PlacedUpTo(a, "parts of words", most, l.members),
		users: cuda.PlacedUpTo(a, "words of parts", most, l.users), jobs: cuda.PlacedUpTo(a, "jobs of parts", mostJobs(x.PartCount(), most, usersOfWarp), l.jobs),
		gradients: Gradients{Weights: cuda.PlacedUpTo(a, "weights of words", x.Words(), l.weights)},
		words:     uint32(x.Words()),
	}
	p.compose = a.Function("cl/parts", cuda.Sized("parts_compose", size), 0)
	p.narrow = a.Function("cl/parts", cuda.Sized("parts_narrow", size), 0)
	p.train = a.Function("cl/parts", o.Sized("parts_train", size), 0)
	return p
}

// Weights is where the device has what each row of a word weighs in its mean.
func (p *PartRows) Weights() cu.DevicePtr { return p.args.gradients.Weights }

// Narrow starts to copy the parts, which came from the host, to their copy in 16 bits. Train keeps it.
func (p *PartRows) Narrow() error {
	return p.launch(p.narrow, ceil(int(p.args.parts.Rows), blockWarps), false)
}

// Compose starts to write rows, which have words' own rows in them unless own is 0. Unless met is 0 it writes those of words of which it
// has the stream of the step.
func (p *PartRows) Compose(rows, own, met, step cu.DevicePtr) error {
	p.args.composed, p.args.own, p.args.met, p.args.step = rows, own, met, step
	return p.launch(p.compose, ceil(int(p.args.words), blockWarps), false)
}

// Train starts to train the parts by the gradients that words have in the step. early is that of cuda.LaunchEarly.
func (p *PartRows) Train(g Gradients, step cu.DevicePtr, early bool) error {
	p.args.gradients, p.args.step = g, step
	return p.launch(p.train, p.tiles, early)
}

func (p *PartRows) launch(f cu.Function, blocks int, early bool) error {
	if blocks == 0 {
		return nil
	}
	return cuda.LaunchEarly(p.device, f, cuda.Grid{Blocks: blocks, Threads: 32 * blockWarps}, &p.args, early)
}
