//go:build gpu

package cl

import (
	"fmt"
	"math"

	"gorgonia.org/cu"

	"github.com/w2vcl/w2vcl/kernels/composed"
	"github.com/w2vcl/w2vcl/kernels/cuda"
)

// rule is Rule of stretch.cuh.
type rule struct{ decay, epsilon, logBeta1, logBeta2 float32 }

// partsArgs is PartsArgs of parts.cu.
type partsArgs struct {
	parts                                                cuda.Table
	composed, own, narrow, starts                        cu.DevicePtr
	members, users, jobs                                 cu.DevicePtr
	gradient, trained, weights, step, updates, list, met cu.DevicePtr
	copies                                               [MaxDevices - 1]cu.DevicePtr
	rule                                                 rule
	words, wide, first, frequent, others                 uint32
}

// PartRows are rows of W that are composed of parts: the kernels of parts.cu, for CBOW and for skip-gram.
type PartRows struct {
	device                 *cuda.Device
	args                   partsArgs
	compose, train, narrow cu.Function
}

// NewPartRows takes the memory of a composition beside its table of parts, and loads the kernels of an optimizer.
func NewPartRows(a *cuda.Allocator, x *composed.Composition, o cuda.Optimizer, parts cuda.Table) *PartRows {
	size, err := cuda.KernelSize(int(parts.Columns))
	if err == nil && int64(max(x.Words(), x.PartCount()))*int64(parts.Quads) > math.MaxUint32 {
		err = fmt.Errorf("tables of %d words and %d parts of dimension %d are larger than the kernels can address", x.Words(), x.PartCount(), x.Dim)
	}
	if a.Err == nil {
		a.Err = err
	}
	starts, members := x.Members()
	userStarts, users := usersOf(x.PartCount(), starts, members)
	jobs, frequent := frequentFirst(userStarts)
	p := &PartRows{device: a.Device}
	p.args = partsArgs{
		parts: parts, narrow: a.Bytes("parts", x.PartCount()*8*int(parts.Quads)),
		starts: cuda.Placed(a, "parts of words", starts), members: cuda.Placed(a, "parts of words", sized(x, members)),
		users: cuda.Placed(a, "words of parts", users), jobs: cuda.Placed(a, "jobs of parts", jobs),
		weights: cuda.Placed(a, "weights of words", weightsOf(x)),
		words:   uint32(x.Words()), wide: parts.Quads, frequent: uint32(frequent),
	}
	p.compose = a.Function("cl/parts", cuda.Sized("parts_compose", size), 0)
	p.narrow = a.Function("cl/parts", cuda.Sized("parts_narrow", size), 0)
	p.train = a.Function("cl/parts", o.Sized("parts_train", size), 0)
	return p
}

// Weights is where the device has what each row of a word weighs in its mean.
func (p *PartRows) Weights() cu.DevicePtr { return p.args.weights }

// Narrow starts to copy the parts, which came from the host, to their copy in 16 bits. Train keeps it.
func (p *PartRows) Narrow() error {
	return p.launch(p.narrow, ceil(int(p.args.parts.Rows), warpsOfPlaces), false)
}

// Compose starts to write rows, which have words' own rows in them unless own is 0. Unless met is 0 it writes those of words of which it
// has the stream of the step.
func (p *PartRows) Compose(rows, own, met, step cu.DevicePtr) error {
	p.args.composed, p.args.own, p.args.met, p.args.step = rows, own, met, step
	return p.launch(p.compose, ceil(int(p.args.words), warpsOfPlaces), false)
}

// Train starts to train the parts by the gradients of words of which trained has the stream of the step: times their weights, in 16 bits.
// early is that of cuda.LaunchEarly.
func (p *PartRows) Train(gradient, trained, step cu.DevicePtr, early bool) error {
	p.args.gradient, p.args.trained, p.args.step = gradient, trained, step
	frequent := int(p.args.frequent)
	return p.launch(p.train, frequent+ceil(int(p.args.parts.Rows)-frequent, warpsOfPlaces), early)
}

func (p *PartRows) launch(f cu.Function, blocks int, early bool) error {
	if blocks == 0 {
		return nil
	}
	return cuda.LaunchEarly(p.device, f, cuda.Grid{Blocks: blocks, Threads: 32 * warpsOfPlaces}, &p.args, early)
}
