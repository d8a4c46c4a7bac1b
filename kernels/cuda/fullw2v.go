//go:build gpu

package cuda

import (
	"errors"
	"fmt"
	"math"

	"gorgonia.org/cu"
)

// FullW2VConfig says what a FullW2V trains.
type FullW2VConfig struct {
	Vocabulary, Dim, Negatives int // V, N, K
	Half                       int // W_f
	Seed                       uint64
	Alias                      []uint32 // of the negatives
	Counts                     []uint64 // of the words in the text; (V)
	Keep                       []uint32 // corpus.KeepThresholds; (V)
	Tokens                     []uint32
	Sentences                  []int // first token of each, and the end
	Units                      []int // first sentence of each unit of an epoch, and the end
	Epochs                     int
	InFlight                   int  // sentences trained at a time; 0: as many as are fast and sound
	HalfPrecision              bool // C is float16; see fullw2v_half.cu
	TextTokens                 int  // of the text that are on the device at most; 0: all

	rung string // of the ladder, for measurements: see ladder.go
}

// FullW2V trains the sentences of a text in order on a device: what
// sequential.FullW2V does, several sentences at a time. With one in flight the
// result is the same but for rounding.
type FullW2V struct {
	device  *Device
	config  FullW2VConfig
	numbers numbers
	kernel  cu.Function
	block   fullKernel
	text    *fullText
	args    fullArgs
}

// fullArgs is FullW2VArgs of fullw2v.cu.
type fullArgs struct {
	words, contexts, tokens, sentences, keep, alias, shares, unitOf cu.DevicePtr
	rates, kept, next, losses, pairs                                cu.DevicePtr
	first, seed                                                     uint64
	all, count, units, vocabulary, quads, negatives, half, longest  uint32
	successor                                                       uint32
}

// What is in flight at most. A row is added to some windows after it was read, so
// on short texts, whose words the warps share, training must go on in fewer
// places at once: 1584 are sound on 17 million words, where 1056 train 15 % slower.
const (
	mostInFlight   = 1584
	tokensInFlight = 10_000 // of the text, for each sentence in flight
)

// A fullPart is what one warp of fullw2v.cu has of every row: 4 f + e chunks. One
// warp trains a sentence, or, in a team, as many as the rows need.
type fullPart struct {
	f, e int
	team bool
}

func (p fullPart) chunks() int { return 4*p.f + p.e }

// fullVariants are the kernels of fullw2v.cu.
var fullVariants = []struct {
	outputs  int   // that a window has at most
	together []int // context words at a time: the second where it divides the window and the first does not
	parts    []fullPart
}{
	{6, []int{6, 5}, []fullPart{{1, 0, false}, {2, 0, false}, {2, 2, false}, {3, 0, false}, {2, 0, true}}},
	{11, []int{2}, []fullPart{{1, 0, false}, {1, 0, true}, {1, 1, true}}},
	{16, []int{2}, []fullPart{{1, 0, false}, {1, 0, true}, {1, 1, true}}},
}

// NewFullW2V takes the device's memory for training. The tables are zero.
func (d *Device) NewFullW2V(c FullW2VConfig) (*FullW2V, error) {
	if c.InFlight == 0 {
		c.InFlight = max(1, min(mostInFlight, 12*d.Multiprocessors, len(c.Tokens)/tokensInFlight))
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	kernel, err := c.kernel()
	if err != nil {
		return nil, err
	}
	t := &FullW2V{device: d, config: c, numbers: newNumbers(c.Vocabulary), block: kernel}
	err = d.do(func() error {
		if t.kernel, err = d.function(kernel.module, kernel.name); err != nil {
			return err
		}
		if t.block.shared > d.SharedOfBlock {
			return fmt.Errorf("windows of %d rows of %d values need %d bytes of shared memory, and a block has %d there", 2*c.Half+2, c.Dim, t.block.shared, d.SharedOfBlock)
		}
		if err := allowShared(t.kernel, t.block.shared); err != nil {
			return err
		}
		return t.allocate()
	})
	if err != nil {
		return nil, fmt.Errorf("prepare FULL-W2V on %s: %w", d.Name, err)
	}
	return t, nil
}

// A fullKernel is the kernel for a shape, with a block's threads and bytes of shared
// memory.
type fullKernel struct {
	module, name    string
	threads, shared int
}

// kernel chooses the kernel.
func (c *FullW2VConfig) kernel() (fullKernel, error) {
	f, err := variant(c.Dim)
	if err != nil {
		return fullKernel{}, err
	}
	slots := 2*c.Half + 2
	if c.rung != "" {
		return c.ladder(slots)
	}
	if c.HalfPrecision {
		groups := (slots + 7) / 8
		row := 512*f + 16
		return fullKernel{"fullw2v_half", fmt.Sprintf("fullw2v_half_%d_%d", f, groups), 32, (groups*8 + slots) * row}, nil
	}
	return c.single(slots), nil
}

// single chooses the kernel in single precision: that which covers rows with the
// fewest chunks, and windows with the fewest context words too many.
func (c *FullW2VConfig) single(slots int) fullKernel {
	i := 0
	for fullVariants[i].outputs < 1+c.Negatives {
		i++
	}
	kind := fullVariants[i]
	var part fullPart
	warps := 0
	for _, p := range kind.parts {
		w := (chunks(c.Dim) + p.chunks() - 1) / p.chunks()
		if (p.team || w == 1) && (warps == 0 || w*p.chunks() < warps*part.chunks()) {
			part, warps = p, w
		}
	}
	together := kind.together[0]
	for _, n := range kind.together {
		if 2*c.Half%together != 0 && 2*c.Half%n == 0 {
			together = n
		}
	}
	rows, coefficients := 2*slots+1, together*8
	if kind.outputs > 8 {
		coefficients *= 2
	}
	if kind.outputs*part.chunks() > 24 {
		rows += kind.outputs // of the next window: see staged in fullw2v.cu
	}
	name := fmt.Sprintf("%d_%d_%d_%d", part.f, part.e, kind.outputs, together)
	parts := 0
	if part.team {
		name, parts = "team_"+name, 2*64 // of dot products
	}
	return fullKernel{"fullw2v", "fullw2v_" + name, 32 * warps, 4 * warps * (rows*chunkValues*part.chunks() + coefficients + parts)}
}

func (c *FullW2VConfig) check() error {
	switch {
	case c.Vocabulary < 2 || c.Dim < 1 || c.Negatives < 1 || c.InFlight < 1 || c.Epochs < 1:
		return fmt.Errorf("vocabulary %d, dimension %d, %d negatives, %d sentences in flight, %d epochs: too few", c.Vocabulary, c.Dim, c.Negatives, c.InFlight, c.Epochs)
	case c.Negatives > 15:
		return fmt.Errorf("%d negatives; the CUDA kernels of fullw2v take at most 15", c.Negatives)
	case c.Half < 1 || c.Half > 15:
		return fmt.Errorf("half window is %d; the CUDA kernels of fullw2v take 1 to 15", c.Half)
	case c.HalfPrecision && (c.Negatives > 7 || c.Half > 7):
		return fmt.Errorf("%d negatives, half window %d; in half precision the CUDA kernels of fullw2v take at most 7 of each", c.Negatives, c.Half)
	case len(c.Alias) != 2*c.Vocabulary || len(c.Keep) != c.Vocabulary || len(c.Counts) != c.Vocabulary:
		return fmt.Errorf("alias table of %d values, %d thresholds, %d counts, for %d words", len(c.Alias), len(c.Keep), len(c.Counts), c.Vocabulary)
	case len(c.Sentences) < 2 || len(c.Units) < 2 || c.Units[len(c.Units)-1] != len(c.Sentences)-1:
		return fmt.Errorf("%d bounds of sentences, %d of units: they do not fit", len(c.Sentences), len(c.Units))
	}
	return nil
}

func (t *FullW2V) allocate() (err error) {
	c, d := t.config, t.device
	starts := make([]uint64, len(c.Sentences))
	longest := 1
	for i, s := range c.Sentences {
		starts[i] = uint64(s)
		if i > 0 {
			longest = max(longest, s-c.Sentences[i-1])
		}
	}
	unitOf := make([]uint32, len(c.Sentences)-1)
	for u := range len(c.Units) - 1 {
		for s := c.Units[u]; s < c.Units[u+1]; s++ {
			unitOf[s] = uint32(u)
		}
	}
	a := &t.args
	*a = fullArgs{
		seed: c.Seed, count: uint32(len(unitOf)), units: uint32(len(c.Units) - 1), vocabulary: uint32(c.Vocabulary),
		quads: uint32(chunkValues / 4 * chunks(c.Dim)), negatives: uint32(c.Negatives), half: uint32(c.Half), longest: uint32(longest),
		successor: t.numbers.successor,
	}
	m := &allocator{device: d}
	table := chunkValues * c.Vocabulary * chunks(c.Dim)
	a.words = m.floats("words", table)
	if c.HalfPrecision {
		a.contexts = m.bytes("contexts", 2*table)
	} else {
		a.contexts = m.floats("contexts", table)
	}
	a.kept = m.floats("sentences in flight", c.InFlight*longest)
	units := t.units()
	a.rates, a.losses, a.pairs = m.floats("learning rates", units), m.bytes("losses", 8*units), m.bytes("numbers of pairs", 8*units)
	a.next = m.bytes("counter", 4)
	a.sentences, a.unitOf = placed(m, "sentences", starts), placed(m, "units", unitOf)
	a.keep = placed(m, "subsampling", numbered(t.numbers, c.Keep))
	a.shares = placed(m, "shares", numbered(t.numbers, c.shares()))
	a.alias = placed(m, "alias table", t.numbers.alias(c.Alias))
	if m.err != nil {
		return m.err
	}
	t.text, err = newFullText(d, &t.config, t.numbers)
	return err
}

// units is the number of units of all epochs.
func (t *FullW2V) units() int { return t.config.Epochs * (len(t.config.Units) - 1) }

// SetTables sends W and C, (V, N) in row-major order.
func (t *FullW2V) SetTables(words, contexts []float32) error {
	want := t.config.Vocabulary * t.config.Dim
	if len(words) != want || len(contexts) != want {
		return fmt.Errorf("tables of %d and %d values; there should be %d", len(words), len(contexts), want)
	}
	return t.device.do(func() error {
		if err := send(t.args.words, t.numbers.chunks(words, t.config.Dim)); err != nil {
			return err
		}
		chunks := t.numbers.chunks(contexts, t.config.Dim)
		if t.config.HalfPrecision {
			return send(t.args.contexts, halves(chunks))
		}
		return send(t.args.contexts, chunks)
	})
}

// Tables receives W and C into slices as SetTables takes them.
func (t *FullW2V) Tables(words, contexts []float32) error {
	return t.device.do(func() error {
		table := make([]float32, chunkValues*chunks(t.config.Dim)*t.config.Vocabulary)
		if err := receive(table, t.args.words); err != nil {
			return err
		}
		t.numbers.rows(words, table, t.config.Dim)
		if err := t.receiveContexts(table); err != nil {
			return err
		}
		t.numbers.rows(contexts, table, t.config.Dim)
		return nil
	})
}

// receiveContexts receives C as it lies on the device.
func (t *FullW2V) receiveContexts(table []float32) error {
	if !t.config.HalfPrecision {
		return receive(table, t.args.contexts)
	}
	packed := make([]uint16, len(table))
	if err := receive(packed, t.args.contexts); err != nil {
		return err
	}
	floats(table, packed)
	return nil
}

// Train trains the units first, first+1, ..., counted over the epochs, one for each
// of the learning rates. It returns the loss of each and the pairs it was summed
// over.
func (t *FullW2V) Train(first int, rates []float32) (losses, pairs []float64, err error) {
	end := first + len(rates)
	if first < 0 || len(rates) == 0 || end > t.units() {
		return nil, nil, fmt.Errorf("units %d to %d of %d in all epochs", first, end-1, t.units())
	}
	losses, counts := make([]float64, len(rates)), make([]uint64, len(rates))
	err = t.device.do(func() error {
		if err := send(t.args.rates+cu.DevicePtr(sizeOf[float32](first)), rates); err != nil {
			return err
		}
		at := cu.DevicePtr(sizeOf[float64](first))
		zeros := make([]uint64, len(rates))
		for _, p := range []cu.DevicePtr{t.args.losses, t.args.pairs} {
			if err := send(p+at, zeros); err != nil {
				return err
			}
		}
		for u := first; u < end; {
			if u, err = t.launch(u, end); err != nil {
				return err
			}
		}
		if err := t.device.stream.Synchronize(); err != nil {
			return err
		}
		return errors.Join(receive(losses, t.args.losses+at), receive(counts, t.args.pairs+at))
	})
	if err != nil {
		return nil, nil, fmt.Errorf("fullw2v on %s: %w", t.device.Name, err)
	}
	for _, n := range counts {
		pairs = append(pairs, float64(n))
	}
	return losses, pairs, nil
}

// launch starts to train units from first on, as far as their text is on the
// device and at most to end. It returns the first unit that is left.
func (t *FullW2V) launch(first, end int) (int, error) {
	perEpoch := len(t.config.Units) - 1
	buffer, err := t.text.hold(first % perEpoch)
	if err != nil {
		return 0, fmt.Errorf("bring the text of unit %d: %w", first, err)
	}
	if len(t.text.buffers) > 1 {
		end = min(end, first-first%perEpoch+t.text.buffers[buffer].end)
	}
	from, to := t.sentence(first), t.sentence(end)
	if to-from > math.MaxUint32-mostInFlight {
		return 0, fmt.Errorf("%d sentences in a launch", to-from)
	}
	t.args.tokens, t.args.first, t.args.all = t.text.base(buffer), uint64(from), uint32(to-from)
	if err := cu.MemsetD32Async(t.args.next, 0, 1, t.device.stream); err != nil {
		return 0, err
	}
	if err := launchWith(t.device, t.kernel, t.config.InFlight, t.block.threads, t.block.shared, &t.args); err != nil {
		return 0, err
	}
	return end, t.text.prepare(buffer)
}

// sentence returns the number of a unit's first sentence, counted over the epochs.
func (t *FullW2V) sentence(unit int) int {
	perEpoch := len(t.config.Units) - 1
	return unit/perEpoch*t.config.Units[perEpoch] + t.config.Units[unit%perEpoch]
}

// Close frees what is not the device's: what is left of its memory goes with it.
func (t *FullW2V) Close() error { return t.device.do(t.text.close) }
