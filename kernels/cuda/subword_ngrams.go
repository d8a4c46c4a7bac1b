//go:build gpu

package cuda

import (
	"cmp"
	"fmt"
	"slices"

	"gorgonia.org/cu"
)

// ngramsArgs is NGrams of subword_gradient.cu.
type ngramsArgs struct {
	table                              clArgs
	starts, members, userStarts, users cu.DevicePtr
	order, rows, own, gradient, step   cu.DevicePtr
	words, common                      uint32
}

// ngrams is an encoder of n-grams on the device.
type ngrams struct {
	device         *Device
	args           ngramsArgs
	table          matrix
	composer, pass cu.Function // that composes rows, and that trains the table
}

func newNGrams(d *Device, c CLConfig, o EncoderConfig) (*ngrams, error) {
	starts, users := inverted(o)
	f, err := variant(c.Dim)
	if err != nil {
		return nil, err
	}
	order, common := commonFirst(starts)
	a := &allocator{device: d}
	x := &ngrams{device: d, table: a.matrix("n-grams", o.Alphabet, c.Dim, 4*quads(c.Dim), c.Method)}
	x.args = ngramsArgs{
		table: clArgs{
			left: uint64(x.table.value), first: uint64(x.table.first), second: uint64(x.table.second), secondOfRow: uint64(x.table.secondOfRow),
			rows: uint32(o.Alphabet), quads: uint32(quads(c.Dim)), columns: uint32(c.Dim), moments: c.moments(),
		},
		starts: placed(a, "n-grams of words", o.Starts), members: placed(a, "n-grams of words", o.Symbols),
		userStarts: placed(a, "words of n-grams", starts), users: placed(a, "words of n-grams", users),
		order:    placed(a, "order of n-grams", order),
		gradient: a.floats("gradient of vectors", c.Rows*4*quads(c.Dim)), words: uint32(c.Rows), common: uint32(common),
	}
	x.composer = a.function("subword_gradient", fmt.Sprintf("ngram_compose_%d", f), 0)
	x.pass = a.function("subword_gradient", fmt.Sprintf("ngram_train_%s_%d", clMethods[c.Method], f), 0)
	return x, a.err
}

// inverted returns, for each n-gram, the words that have it, in order and as
// often as they have it.
func inverted(o EncoderConfig) (starts, users []uint32) {
	starts, users = make([]uint32, o.Alphabet+1), make([]uint32, len(o.Symbols))
	for _, u := range o.Symbols {
		starts[u+1]++
	}
	for u := range o.Alphabet {
		starts[u+1] += starts[u]
	}
	next := append([]uint32{}, starts...)
	for v, first := range o.Starts[:len(o.Starts)-1] {
		for _, u := range o.Symbols[first:o.Starts[v+1]] {
			users[next[u]] = uint32(v)
			next[u]++
		}
	}
	return starts, users
}

// commonFirst returns the n-grams in the order they are trained in, and how many come
// first because more words have them than one warp should sum: those with most words lead.
func commonFirst(starts []uint32) (order []uint32, common int) {
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

func (x *ngrams) matrices() map[string]matrix { return map[string]matrix{"ngrams": x.table} }

func (x *ngrams) target(a *gradientArgs) { a.plain = x.args.gradient }

func (x *ngrams) sent() error { return nil }

func (x *ngrams) compose(rows, words cu.DevicePtr) error {
	x.args.rows, x.args.own = rows, words
	return launchWith(x.device, x.composer, (int(x.args.words)+gradientWarps-1)/gradientWarps, 32*gradientWarps, 0, &x.args)
}

func (x *ngrams) update(step cu.DevicePtr) error {
	x.args.step = step
	common := int(x.args.common)
	blocks := common + (int(x.args.table.rows)-common+gradientWarps-1)/gradientWarps
	return launchWith(x.device, x.pass, blocks, 32*gradientWarps, 0, &x.args)
}
