//go:build gpu

package sentence

import (
	"errors"
	"fmt"

	"github.com/w2vcl/w2vcl/kernels/composed"
	"github.com/w2vcl/w2vcl/kernels/cuda"
	"gorgonia.org/cu"
)

// Composed are Kernels of a mode whose W is composed of parts: for each block of sentences, behind which
// the changes go to the parts. See composed.cu. The tensors parts, own and contexts start as zeros.
type Composed struct {
	*Kernels
	composition *composed.Composition
	parts       numbers // places of the rows of parts
	args        composedArgs

	before, behind []cu.Function // what is launched before a block, and behind it
}

// composedArgs is ComposedArgs of composed.cu.
type composedArgs struct {
	words, before, own, parts   cu.DevicePtr
	starts, members, weights    cu.DevicePtr
	tokens                      cu.DevicePtr
	list, length, state, counts cu.DevicePtr
	first, end                  uint64
	layout                      layout
	rate, most                  float32
}

// NewComposed takes the device's memory for training with a composition.
func NewComposed(d *cuda.Device, c Options, x *composed.Composition) (*Composed, error) {
	if x.Words() != c.Vocabulary || x.Dim != c.Dim || x.PartCount() < 1 {
		return nil, fmt.Errorf("a composition of %d words and %d parts, for %d words", x.Words(), x.PartCount(), c.Vocabulary)
	}
	if c.HalfPrecision {
		return nil, errors.New("composed rows have no half precision")
	}
	c.inRows = true
	k, err := New(d, c)
	if err != nil {
		return nil, err
	}
	t := &Composed{Kernels: k, composition: x, parts: numbers{uint32(x.PartCount()), 1, 1, false}}
	if err := d.Do(t.prepare); err != nil {
		return nil, fmt.Errorf("prepare composed rows on %s: %w", d.Name, err)
	}
	return t, nil
}

func (t *Composed) prepare() error {
	c, x := &t.options, t.composition
	m := &cuda.Allocator{Device: t.device}
	size, err := cuda.KernelSize(c.Dim)
	if err != nil {
		return err
	}
	function := func(name string) cu.Function {
		return m.Function("sentence/composed", cuda.Sized("composed_"+name, size), 0)
	}
	t.before = []cu.Function{m.Function("sentence/composed", "composed_mark", 0), function("compose")}
	t.behind = []cu.Function{function("changes"), function("push")}
	starts, members, weights := partsByNumber(x, t.numbers.number)
	table, n := padded(c.Dim), c.Vocabulary
	t.args = composedArgs{
		words: t.Kernels.args.words, layout: t.numbers.layout(c.Dim), rate: x.Rate,
	}
	a := &t.args
	a.before, a.parts = m.Floats("composed words", table*n), m.Floats("parts of words", table*x.PartCount())
	if x.Own != nil {
		a.own = m.Floats("words' own vectors", table*n)
	}
	a.starts, a.members = cuda.Placed(m, "parts of words", starts), cuda.Placed(m, "parts of words", members)
	a.weights = cuda.Placed(m, "weights of words", weights)
	a.list = m.Bytes("words of a block", 4*n)
	a.length = m.Bytes("words and parts of a block", 4*t.zeros())
	a.state = a.length + cu.DevicePtr(cuda.Bytes[uint32](1))
	a.counts = a.state + cu.DevicePtr(cuda.Bytes[uint32](n))
	return m.Err
}

// zeros is how many numbers are 0 before a block: length, state and counts.
func (t *Composed) zeros() int { return 1 + t.options.Vocabulary + t.composition.PartCount() }

// Train is that of Kernels.
func (t *Composed) Train(first int, rates []float32) (losses, pairs []float64, err error) {
	err = t.device.Do(func() error {
		if err := t.Kernels.begin(first, rates); err != nil {
			return err
		}
		for i, rate := range rates {
			if err := t.train(first+i, rate); err != nil {
				return err
			}
		}
		losses, pairs, err = t.end(len(rates))
		return err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("%s of composed rows on %s: %w", t.options.Mode, t.device.Name, err)
	}
	return losses, pairs, nil
}

// train starts to train a unit, a block of sentences after the other.
func (t *Composed) train(unit int, rate float32) error {
	u := unit % (len(t.options.Units) - 1)
	buffer, err := t.text.hold(u)
	if err != nil {
		return err
	}
	t.useText(buffer)
	t.args.tokens = t.text.base(buffer)
	t.args.most = t.composition.Undamped(rate, 1)
	for first, end := t.sentence(unit), t.sentence(unit+1); first < end; {
		next := t.options.block(first, end)
		if err := t.trainBlock(first, next); err != nil {
			return err
		}
		first = next
	}
	return t.text.prepare(buffer)
}

// block returns the end of a block that begins with a sentence, counted over the epochs, and ends before another one
// of its unit.
func (c *Options) block(first, end int) int {
	if c.Block == 0 {
		return end
	}
	text := c.text()
	epoch := first / text.Sentences() * text.Sentences() // its first sentence
	start, next := text.Start(first-epoch), first+1
	for next < end && text.Start(next-epoch)-start < c.Block {
		next++
	}
	return next
}

// trainBlock starts to train sentences, counted over the epochs, whose words are composed before.
func (t *Composed) trainBlock(first, end int) error {
	text := t.options.text()
	epoch := first / text.Sentences() * text.Sentences() // its first sentence
	t.args.first, t.args.end = uint64(text.Start(first-epoch)), uint64(text.Start(end-epoch))
	if err := cu.MemsetD32Async(t.args.length, 0, int64(t.zeros()), t.device.Stream()); err != nil {
		return err
	}
	if err := t.launchAll(t.before); err != nil {
		return err
	}
	if err := t.launchSentences(first, end); err != nil {
		return err
	}
	return t.launchAll(t.behind)
}

func (t *Composed) launchAll(functions []cu.Function) error {
	for _, f := range functions {
		if err := cuda.Launch(t.device, f, cuda.Grid{Blocks: 4 * t.device.Multiprocessors, Threads: 256}, &t.args); err != nil {
			return err
		}
	}
	return nil
}

// Send brings a tensor to the device: parts, (U, N), own or contexts, (V, N).
func (t *Composed) Send(name string, values []float32) error {
	to, n, rows, err := t.tensor(name)
	if err != nil {
		return err
	}
	if want := rows * t.options.Dim; len(values) != want {
		return fmt.Errorf("tensor %s of %d values; there should be %d", name, len(values), want)
	}
	return t.device.Do(func() error { return n.send(to, values, t.options.Dim, false) })
}

// Receive brings a tensor from the device, as Send takes it.
func (t *Composed) Receive(name string, values []float32) error {
	from, n, _, err := t.tensor(name)
	if err != nil {
		return err
	}
	return t.device.Do(func() error { return n.receive(values, from, t.options.Dim, false) })
}

// tensor returns where a tensor lies, and the numbers of its rows.
func (t *Composed) tensor(name string) (at cu.DevicePtr, n numbers, rows int, err error) {
	switch {
	case name == "parts":
		return t.args.parts, t.parts, t.composition.PartCount(), nil
	case name == "own" && t.composition.Own != nil:
		return t.args.own, t.numbers, t.options.Vocabulary, nil
	case name == "contexts":
		return t.Kernels.args.contexts, t.numbers, t.options.Vocabulary, nil
	}
	return 0, n, 0, fmt.Errorf("there is no tensor %s", name)
}

// partsByNumber lists the parts of all words in the order of the numbers that number returns, with their sizes: word w has
// members[starts[w]:starts[w+1]], each of weights[w] in its mean.
func partsByNumber(x *composed.Composition, number func(word int) int) (starts []uint32, members []composed.Member, weights []float32) {
	words := make([]uint32, x.Words()) // by number
	for w := range words {
		words[number(w)] = uint32(w)
	}
	starts = make([]uint32, 1, len(words)+1)
	members = make([]composed.Member, 0, len(x.Symbols))
	for _, w := range words {
		for _, g := range x.Of(w) {
			members = append(members, composed.Member{Number: g, Times: uint32(x.Size(g))})
		}
		starts, weights = append(starts, uint32(len(members))), append(weights, x.Weight(w))
	}
	return starts, members, weights
}
