//go:build gpu

package subword

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/w2vcl/w2vcl/kernels/cuda"
	"github.com/w2vcl/w2vcl/kernels/cuda/cl"
	"gorgonia.org/cu"
)

// ngramsArgs is NGrams of gradient.cu.
type ngramsArgs struct {
	table                              cl.TableArgs
	starts, members, userStarts, users cu.DevicePtr
	order, rows, own, gradient, step   cu.DevicePtr
	words, frequent                    uint32
}

// ngrams is an encoder of n-grams on the device.
type ngrams struct {
	device         *cuda.Device
	args           ngramsArgs
	name           string // of the table
	table          matrix
	composer, pass cu.Function // that composes rows, and that trains the table
}

func newNGrams(d *cuda.Device, c cl.Config, e Config) (*ngrams, error) {
	size, err := cuda.KernelSize(c.Dim)
	if err != nil {
		return nil, err
	}
	starts, users := inverted(e)
	order, frequent := frequentFirst(starts)
	a := newAllocator(d)
	x := &ngrams{device: d, name: cmp.Or(e.Table, "ngrams"), table: a.matrix("n-grams", e.Alphabet, c.Dim, stride(c.Dim), c.Method)}
	x.args = ngramsArgs{
		table:  x.table.args(c),
		starts: placed(a, "n-grams of words", e.Starts), members: placed(a, "n-grams of words", e.Symbols),
		userStarts: placed(a, "words of n-grams", starts), users: placed(a, "words of n-grams", users),
		order:    placed(a, "order of n-grams", order),
		gradient: a.Floats("gradient of vectors", c.Rows*stride(c.Dim)), words: uint32(c.Rows), frequent: uint32(frequent),
	}
	x.composer = a.Function(built, "gradient", fmt.Sprintf("ngram_compose_%d", size), 0)
	x.pass = a.Function(built, "gradient", fmt.Sprintf("ngram_train_%s_%d", methods[c.Method], size), 0)
	return x, a.Err
}

// inverted returns, for each n-gram, the words that have it, in order and as
// often as they have it.
func inverted(e Config) (starts, users []uint32) {
	starts, users = make([]uint32, e.Alphabet+1), make([]uint32, len(e.Symbols))
	for _, u := range e.Symbols {
		starts[u+1]++
	}
	for u := range e.Alphabet {
		starts[u+1] += starts[u]
	}
	next := append([]uint32{}, starts...)
	for v, first := range e.Starts[:len(e.Starts)-1] {
		for _, u := range e.Symbols[first:e.Starts[v+1]] {
			users[next[u]] = uint32(v)
			next[u]++
		}
	}
	return starts, users
}

// frequentFirst returns the n-grams in the order they are trained in. So many come first,
// the most frequent ahead, because they are in more words than one warp should sum.
func frequentFirst(starts []uint32) (order []uint32, frequent int) {
	const few = 64
	words := func(u uint32) uint32 { return starts[u+1] - starts[u] }
	var others []uint32
	for u := range uint32(len(starts) - 1) {
		if words(u) > few {
			order = append(order, u)
		} else {
			others = append(others, u)
		}
	}
	slices.SortStableFunc(order, func(a, b uint32) int { return cmp.Compare(words(b), words(a)) })
	return append(order, others...), len(order)
}

func (x *ngrams) matrices() map[string]matrix { return map[string]matrix{x.name: x.table} }

func (x *ngrams) target(a *gradientArgs) { a.plain = x.args.gradient }

func (x *ngrams) sent() error { return nil }

func (x *ngrams) compose(rows, words cu.DevicePtr) error {
	x.args.rows, x.args.own = rows, words
	grid := cuda.Grid{Blocks: blocksOfRows(int(x.args.words)), Threads: 32 * gradientWarps}
	return cuda.Launch(x.device, x.composer, grid, &x.args)
}

// update has a thread block for each of the frequent n-grams, and a warp for each other one.
func (x *ngrams) update(step cu.DevicePtr) error {
	x.args.step = step
	frequent := int(x.args.frequent)
	grid := cuda.Grid{Blocks: frequent + blocksOfRows(x.table.rows-frequent), Threads: 32 * gradientWarps}
	return cuda.Launch(x.device, x.pass, grid, &x.args)
}
