//go:build gpu

package subword

import (
	"fmt"

	"github.com/w2vcl/w2vcl/kernels/composed"
	"github.com/w2vcl/w2vcl/kernels/cuda"
	"github.com/w2vcl/w2vcl/kernels/cuda/cl"
	"gorgonia.org/cu"
)

// ngramsArgs is NGrams of ngrams.cu.
type ngramsArgs struct {
	table                              cuda.Table
	starts, members, userStarts, users cu.DevicePtr
	order, sizes, sums, weights        cu.DevicePtr
	rows, own, gradient, trained, met  cu.DevicePtr
	step                               cu.DevicePtr
	now                                cl.Met
	words, frequent                    uint32
}

// ngrams are the rows of a composition on the device.
type ngrams struct {
	device                *cuda.Device
	args                  ngramsArgs
	table                 matrix      // a row a part
	composer, pass, adder cu.Function // that composes rows, trains the table, and writes its sums
	meet                  cu.Function // that finds the rows to compose
}

// NewParts is New of rows that are means of parts: of the options' composition.
func NewParts(d *cuda.Device, c cl.Options) (*Kernels, error) {
	x := c.Composition
	if x.Words() != c.Rows || x.Dim != c.Dim {
		return nil, fmt.Errorf("a composition of %d words of dimension %d; there are %d of dimension %d", x.Words(), x.Dim, c.Rows, c.Dim)
	}
	return newKernels(d, c, float64(x.Rate), x.Own != nil, func(a *allocator) (encoder, error) { return newNGrams(a, c, x) })
}

func newNGrams(a *allocator, c cl.Options, e *composed.Composition) (*ngrams, error) {
	size, err := cuda.KernelSize(c.Dim)
	if err != nil {
		return nil, err
	}
	parts := e.PartCount()
	sizes, weights := make([]float32, parts), make([]float32, c.Rows)
	for u := range sizes {
		sizes[u] = e.Size(uint32(u))
	}
	for v := range weights {
		weights[v] = e.Weight(uint32(v))
	}
	starts, users := e.Users()
	order, frequent := cl.FrequentFirst(starts)
	x := &ngrams{device: a.Device, table: a.matrix("n-grams", parts, c.Dim, stride(c.Dim))}
	x.args = ngramsArgs{
		table:  x.table.table(a.optimizer),
		starts: placed(a, "n-grams of words", e.Starts), members: placed(a, "n-grams of words", e.Symbols),
		userStarts: placed(a, "words of n-grams", starts), users: placed(a, "words of n-grams", users),
		order: placed(a, "order of n-grams", order), sizes: placed(a, "n-grams of a row", sizes), weights: placed(a, "weights of words", weights),
		sums: a.Bytes("sums of n-grams", 2*parts*stride(c.Dim)), gradient: a.Bytes("gradient of vectors", 2*c.Rows*stride(c.Dim)),
		met:   a.Floats("words of an iteration", c.Rows),
		words: uint32(c.Rows), frequent: uint32(frequent),
	}
	x.composer = a.Function("subword/ngrams", fmt.Sprintf("ngram_compose_%d", size), 0)
	x.pass = a.Function("subword/ngrams", fmt.Sprintf("ngram_train_%s_%d", a.optimizer.Kernels, size), 0)
	x.adder = a.Function("subword/ngrams", fmt.Sprintf("ngram_sums_%d", size), 0)
	x.meet = a.Function("subword/ngrams", "ngram_meet", 0)
	return x, a.Err
}

func (x *ngrams) matrices() map[string]matrix { return map[string]matrix{"parts": x.table} }

func (x *ngrams) target() narrowMatrix {
	return narrowMatrix{values: x.args.gradient, stride: uint64(x.table.stride)}
}

func (x *ngrams) skips(trained cu.DevicePtr) bool {
	x.args.trained = trained
	return true
}

// sent prepares the sums.
func (x *ngrams) sent() error {
	return x.launch(x.adder, blocksOfRows(x.table.rows), warpsOfBlock)
}

func (x *ngrams) compose(_, _ cu.DevicePtr) error { return nil }

func (x *ngrams) prepare(rows, words cu.DevicePtr, m cl.StepMemory) error {
	x.args.rows, x.args.own, x.args.step, x.args.now = rows, words, m.Parameters, m.Met
	if n := int(m.Met.Slots + m.Met.Negatives + m.Met.MostJobs); m.Met.Slots > 0 {
		if err := x.launch(x.meet, (n+255)/256, 8); err != nil {
			return err
		}
	}
	return x.launch(x.composer, blocksOfRows(int(x.args.words)), warpsOfBlock)
}

const sumWarps = 8 // of a thread block of ngram_train

func (x *ngrams) gradient(cu.DevicePtr) error { return nil } // update and prepare run beside step 2 as they are

func (x *ngrams) beside() int { return 0 }

// update has a thread block for each of the frequent rows, and a warp for each other one.
func (x *ngrams) update(step cu.DevicePtr) error {
	x.args.step = step
	frequent := int(x.args.frequent)
	return x.launch(x.pass, frequent+(x.table.rows-frequent+sumWarps-1)/sumWarps, sumWarps)
}

func (x *ngrams) launch(f cu.Function, blocks, warps int) error {
	return cuda.Launch(x.device, f, cuda.Grid{Blocks: blocks, Threads: 32 * warps}, &x.args)
}
