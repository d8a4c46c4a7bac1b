//go:build gpu

package subword

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/w2vcl/w2vcl/kernels/cuda"
	"github.com/w2vcl/w2vcl/kernels/cuda/cl"
	"gorgonia.org/cu"
)

// ngramsArgs is NGrams of gradient.cu.
type ngramsArgs struct {
	table                              cl.TableArgs
	starts, members, userStarts, users cu.DevicePtr
	order, sizes, decays, sums         cu.DevicePtr
	rows, own, gradient, trained, met  cu.DevicePtr
	step                               cu.DevicePtr
	now                                cl.Met
	words, frequent                    uint32
}

// ngrams is an encoder of n-grams on the device, which has classes of them: see gradient.cu.
type ngrams struct {
	device                 *cuda.Device
	args                   ngramsArgs
	name                   string // of the table
	classes                classes
	table                  matrix       // a row a class
	start                  cu.DevicePtr // the table as it was sent, (U, stride)
	composer, pass, narrow cu.Function  // that composes rows, trains the table, and rounds it
	meet                   cu.Function  // that finds the rows to compose
}

func newNGrams(d *cuda.Device, c cl.Config, e Config) (*ngrams, error) {
	size, err := cuda.KernelSize(c.Dim)
	if err != nil {
		return nil, err
	}
	classes := classesOf(e)
	lists := classes.lists(e)
	starts, users := inverted(lists)
	order, frequent := frequentFirst(starts)
	a := newAllocator(d)
	x := &ngrams{device: d, name: cmp.Or(e.Table, "ngrams"), classes: classes, table: a.matrix("n-grams", lists.Alphabet, c.Dim, stride(c.Dim), c.Method)}
	x.start = a.Floats("n-grams", e.Alphabet*stride(c.Dim))
	x.args = ngramsArgs{
		table:  x.table.args(c),
		starts: placed(a, "n-grams of words", lists.Starts), members: placed(a, "n-grams of words", lists.Symbols),
		userStarts: placed(a, "words of n-grams", starts), users: placed(a, "words of n-grams", users),
		order: placed(a, "order of n-grams", order), sizes: placed(a, "sizes of classes", classes.sizes()),
		decays: placed(a, "decays of classes", slices.Repeat([]float32{1}, lists.Alphabet)),
		sums:   a.Bytes("n-grams in 16 bits", 2*lists.Alphabet*stride(c.Dim)), gradient: a.Bytes("gradient of vectors", 2*c.Rows*stride(c.Dim)),
		met:   a.Floats("words of an iteration", c.Rows),
		words: uint32(c.Rows), frequent: uint32(frequent),
	}
	x.composer = a.Function(built, "gradient", fmt.Sprintf("ngram_compose_%d", size), 0)
	x.pass = a.Function(built, "gradient", fmt.Sprintf("ngram_train_%s_%d", methods[c.Method], size), 0)
	x.narrow = a.Function(built, "gradient", fmt.Sprintf("ngram_narrow_%d", size), 0)
	x.meet = a.Function(built, "gradient", "ngram_meet", 0)
	return x, a.Err
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

func (x *ngrams) matrices() map[string]matrix { return nil } // see send

func (x *ngrams) target() splitMatrix {
	return splitMatrix{high: x.args.gradient, stride: uint64(x.table.stride)}
}

func (x *ngrams) skips(trained cu.DevicePtr) bool {
	x.args.trained = trained
	return true
}

func (x *ngrams) sent() error { return nil }

func (x *ngrams) compose(rows, words cu.DevicePtr, m cl.StepMemory) error {
	x.args.rows, x.args.own, x.args.step, x.args.now = rows, words, m.Parameters, m.Met
	if n := int(m.Met.Slots + m.Met.Negatives + m.Met.MostJobs); m.Met.Slots > 0 {
		if err := x.launch(x.meet, (n+255)/256, 8); err != nil {
			return err
		}
	}
	return x.launch(x.composer, blocksOfRows(int(x.args.words)), gradientWarps)
}

const sumWarps = 8 // of a thread block of ngram_train

// update has a thread block for each of the frequent classes, and a warp for each other one.
func (x *ngrams) update(step cu.DevicePtr) error {
	x.args.step = step
	frequent := int(x.args.frequent)
	return x.launch(x.pass, frequent+(x.table.rows-frequent+sumWarps-1)/sumWarps, sumWarps)
}

func (x *ngrams) launch(f cu.Function, blocks, warps int) error {
	return cuda.Launch(x.device, f, cuda.Grid{Blocks: blocks, Threads: 32 * warps}, &x.args)
}

// send sends the n-grams' table, of which a class has the sum, or their moments, which all of a class share.
func (x *ngrams) send(name string, values []float32) (done bool, err error) {
	at, columns, stride := x.tensor(name, len(values))
	if at == 0 {
		return false, nil
	}
	if name != x.name {
		ofClasses := make([]float32, x.classes.count()*columns)
		for class, members := range x.classes.members {
			copy(ofClasses[class*columns:][:columns], values[int(members[0])*columns:])
		}
		return true, x.device.Do(func() error { return cuda.SendRows(at, ofClasses, columns, stride) })
	}
	ones := make([]float32, x.classes.count())
	for i := range ones {
		ones[i] = 1
	}
	sums := x.classes.sums(values, columns)
	return true, x.device.Do(func() error {
		if err := cuda.SendRows(x.start, values, columns, stride); err != nil {
			return err
		}
		if err := cuda.Send(x.args.decays, ones); err != nil {
			return err
		}
		if err := cuda.SendRows(at, sums, columns, stride); err != nil {
			return err
		}
		return x.launch(x.narrow, blocksOfRows(x.table.rows), gradientWarps)
	})
}

// receive is the way back.
func (x *ngrams) receive(name string, values []float32) (done bool, err error) {
	at, columns, stride := x.tensor(name, len(values))
	if at == 0 {
		return false, nil
	}
	ofClasses, decays := make([]float32, x.classes.count()*columns), make([]float32, x.classes.count())
	err = x.device.Do(func() error {
		if err := cuda.ReceiveRows(ofClasses, at, columns, stride); err != nil || name != x.name {
			return err
		}
		if err := cuda.Receive(decays, x.args.decays); err != nil {
			return err
		}
		return cuda.ReceiveRows(values, x.start, columns, stride)
	})
	if err != nil {
		return true, err
	}
	if name == x.name {
		x.classes.spread(values, ofClasses, decays, columns)
		return true, nil
	}
	for u, class := range x.classes.of {
		copy(values[u*columns:][:columns], ofClasses[int(class)*columns:])
	}
	return true, nil
}

// tensor returns where classes have a tensor of the table, of so many values of all n-grams; 0: nowhere.
func (x *ngrams) tensor(name string, values int) (at cu.DevicePtr, columns, stride int) {
	suffix, ok := strings.CutPrefix(name, x.name)
	if !ok {
		return 0, 0, 0
	}
	t := x.table
	at = map[string]cu.DevicePtr{"": t.value, ".first-moment": t.first, ".second-moment": t.second}[suffix]
	columns, stride = t.columns, t.stride
	if suffix == ".second-moment" && t.secondOfRow != 0 {
		at, columns, stride = t.secondOfRow, 1, 1
	}
	if values != len(x.classes.of)*columns {
		return 0, 0, 0
	}
	return at, columns, stride
}
