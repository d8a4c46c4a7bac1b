//go:build gpu

package sentence

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/w2vcl/w2vcl/kernels/cuda"
	"gorgonia.org/cu"
)

// Kernels train the sentences of a text in order on a device, as package sequential does, but
// several sentences at a time. With one in flight the result is the same but for rounding.
type Kernels struct {
	device  *cuda.Device
	options Options
	numbers numbers
	kernel  kernel
	text    *text
	args    launchArgs
	series  series

	whole, bounded cu.Function // all of each change is added, or the shares of rows
	run            cu.Function // one of these
	leastShare     float32     // of a word of C
}

// launchArgs is SentenceArgs of words.cuh, and around that of PieceArgs, which other kernels do not read.
type launchArgs struct {
	words, contexts, tokens, sentences, keep, alias, shares, contextShares cu.DevicePtr
	unitOf, rates, kept, next, losses, pairs                               cu.DevicePtr
	first, seed                                                            uint64
	all, count, units, vocabulary, negatives                               uint32
	layout                                                                 layout
	radius, dynamic, perWindow, batch, longest, successor, apart           uint32
	soundRate                                                              float32
	around                                                                 cu.DevicePtr
	reach                                                                  uint32
}

// New takes the device's memory for training. The tables are zero.
func New(d *cuda.Device, c Options) (*Kernels, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	k, err := c.kernel()
	if err != nil {
		return nil, err
	}
	if c.Piece > 0 {
		c.Text, c.Units = newPieces(c.text(), c.Units, c.Piece)
		c.cut = true
	}
	return newKernels(d, c, k)
}

func newKernels(d *cuda.Device, c Options, k kernel) (*Kernels, error) {
	c.chooseInFlight(k, d.Multiprocessors, 1)
	t := &Kernels{device: d, options: c, numbers: newNumbers(c.Vocabulary), kernel: k}
	t.numbers.spread = !c.inRows && c.Vocabulary <= mostSpread
	err := d.Do(func() (err error) {
		if t.whole, err = d.Function("sentence/"+k.source, k.name); err != nil {
			return err
		}
		t.bounded = t.whole
		if k.forms {
			if t.bounded, err = d.Function("sentence/"+k.source, k.name+"_bounded"); err != nil {
				return err
			}
		}
		if k.shared > d.SharedOfBlock {
			return fmt.Errorf("windows of %d words on either side, of %d values each, need %d bytes of shared memory, and a thread block has %d there", c.Radius, c.Dim, k.shared, d.SharedOfBlock)
		}
		if err := errors.Join(cuda.AllowShared(t.whole, k.shared), cuda.AllowShared(t.bounded, k.shared)); err != nil {
			return err
		}
		return t.allocate()
	})
	if err != nil {
		return nil, fmt.Errorf("prepare %s on %s: %w", c.Mode, d.Name, err)
	}
	return t, nil
}

// chooseInFlight sets InFlight unless it is given: of a short text to so many times as many sentences as are sound on one device.
func (c *Options) chooseInFlight(k kernel, multiprocessors, times int) {
	if c.InFlight == 0 {
		c.InFlight = max(1, min(MaxInFlight, k.sentences*multiprocessors, times*c.text().Tokens()/tokensInFlight))
	}
}

// mostSentences is how many an epoch may have, which kernels count in 32 bits.
const mostSentences = math.MaxUint32 - MaxInFlight

func (c *Options) check() error {
	most, precision := LimitsOf(c.Mode, c.HalfPrecision), ""
	if c.HalfPrecision {
		precision = " in half precision"
	}
	switch {
	case c.Vocabulary < 2 || c.Dim < 1 || c.Negatives < 1 || c.InFlight < 0 || c.Epochs < 1:
		return fmt.Errorf("vocabulary %d, dimension %d, %d negatives, %d sentences in flight, %d epochs: too few", c.Vocabulary, c.Dim, c.Negatives, c.InFlight, c.Epochs)
	case most.Negatives == 0:
		return fmt.Errorf("there are no CUDA kernels of %s%s", c.Mode, precision)
	case c.Negatives > most.Negatives:
		return fmt.Errorf("%d negatives; the CUDA kernels of %s%s take at most %d", c.Negatives, c.Mode, precision, most.Negatives)
	case c.Radius < 1 || c.Radius > most.Radius:
		return fmt.Errorf("the radius of windows is %d; the CUDA kernels of %s%s take 1 to %d", c.Radius, c.Mode, precision, most.Radius)
	case c.HalfWords && !(c.HalfPrecision && c.Mode.HalvesWords()):
		return fmt.Errorf("there are no CUDA kernels of %s with W alone in half precision, or with both tables", c.Mode)
	case c.Piece > 0 && c.HalfPrecision:
		return fmt.Errorf("there are no CUDA kernels of %s%s that train pieces of sentences", c.Mode, precision)
	case c.Mode == PARW2V && c.Batch < 1:
		return fmt.Errorf("batches of %d words", c.Batch)
	case len(c.Alias) != 2*c.Vocabulary || len(c.Keep) != c.Vocabulary || len(c.Counts) != c.Vocabulary:
		return fmt.Errorf("alias table of %d values, %d thresholds, %d counts, for %d words", len(c.Alias), len(c.Keep), len(c.Counts), c.Vocabulary)
	case c.text().Sentences() > mostSentences:
		return fmt.Errorf("%d sentences; the kernels count %d in an epoch at most", c.text().Sentences(), mostSentences)
	case c.text().Sentences() < 1 || len(c.Units) < 2 || c.Units[len(c.Units)-1] != c.text().Sentences():
		return fmt.Errorf("%d sentences, %d bounds of units: they do not fit", c.text().Sentences(), len(c.Units))
	}
	return nil
}

// forget drops the tables that the devices now have: over 1 GB for 100 million words.
func (c *Options) forget() { c.Alias, c.Keep = nil, nil }

func (t *Kernels) allocate() (err error) {
	c, d := t.options, t.device
	text := c.text()
	count, longest := text.Sentences(), max(1, text.LongestSentence())
	a := &t.args
	*a = launchArgs{
		seed: c.Seed, count: uint32(count), units: uint32(len(c.Units) - 1), vocabulary: uint32(c.Vocabulary),
		layout: t.numbers.layout(c.Dim), negatives: uint32(c.Negatives), radius: uint32(c.Radius), perWindow: uint32(c.PerWindow()), batch: uint32(c.Batch),
		longest: uint32(longest), successor: t.numbers.successor, apart: uint32(c.apart()), soundRate: math.MaxFloat32,
	}
	if c.Mode.Dynamic() {
		a.dynamic = 1
	}
	a.reach = a.radius
	if c.Mode == PARW2V {
		a.reach = max(a.reach, a.batch)
	}
	m := &cuda.Allocator{Device: d}
	table := t.numbers.values(c.Dim)
	a.words, a.contexts = m.Bytes("words", valueBytes(c.HalfWords)*table), m.Bytes("contexts", valueBytes(c.HalfPrecision)*table)
	a.kept = m.Floats("sentences in flight", 2*c.InFlight*longest)
	a.next = m.Bytes("counter", 4)
	t.placePieces(m)
	a.keep = placeNumbered(m, "subsampling", t.numbers, func(w int) uint32 { return c.Keep[w] })
	f := c.frequencies()
	a.shares = placeNumbered(m, "shares", t.numbers, c.shares(f))
	if c.sharesContexts() {
		shares := c.contextShares(f)
		a.contextShares, t.leastShare = placeNumbered(m, "shares of contexts", t.numbers, shares), c.least(shares)
		if c.InFlight > 1 {
			a.soundRate = soundRate
		}
	}
	a.alias = cuda.PlacedParts(m, "alias table", c.Vocabulary, func(to [][4]uint32, first int) { t.numbers.alias(to, c.Alias, first) })
	t.options.forget()
	if m.Err != nil {
		return m.Err
	}
	t.text, err = newText(d, &t.options, t.numbers)
	return err
}

// placePieces places what is around the sentences, if they are pieces of others.
func (t *Kernels) placePieces(m *cuda.Allocator) {
	cut, ok := t.options.text().(*pieces)
	if !ok {
		return
	}
	t.args.around = cuda.PlacedParts(m, "pieces of sentences", cut.Sentences(), func(to [][2]uint32, first int) {
		own := cut.clone() // several goroutines ask
		for i := range to {
			to[i] = own.around(first + i)
		}
	})
}

// useText lets the kernels read the text of a buffer.
func (t *Kernels) useText(buffer int) {
	t.args.tokens, t.args.sentences, t.args.unitOf = t.text.base(buffer), t.text.sentencesBase(buffer), t.text.unitOfBase(buffer)
}

// units is the number of units of all epochs.
func (t *Kernels) units() int { return t.options.Epochs * (len(t.options.Units) - 1) }

// Train trains the units first, first+1, ..., counted over the epochs, one for each
// of the learning rates. It returns the loss of each, summed over its pairs, and the number
// of these.
func (t *Kernels) Train(first int, rates []float32) (losses, pairs []float64, err error) {
	end := first + len(rates)
	err = t.device.Do(func() error {
		if err := t.begin(first, rates); err != nil {
			return err
		}
		for u := first; u < end; {
			if u, err = t.launch(u, end); err != nil {
				return err
			}
		}
		losses, pairs, err = t.end(len(rates))
		return err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("%s on %s: %w", t.options.Mode, t.device.Name, err)
	}
	return losses, pairs, nil
}

// begin prepares the training of units.
func (t *Kernels) begin(first int, rates []float32) error {
	if first < 0 || len(rates) == 0 || first+len(rates) > t.units() {
		return fmt.Errorf("units %d to %d of %d in all epochs", first, first+len(rates)-1, t.units())
	}
	t.run = t.whole
	if t.options.sharesContexts() && (t.leastShare < 1 || slices.Max(rates) > t.args.soundRate) {
		t.run = t.bounded
	}
	if err := t.series.begin(t.device, rates); err != nil {
		return err
	}
	t.args.rates, t.args.losses, t.args.pairs = t.series.bases(first)
	return nil
}

// end waits for so many units and returns their losses and pairs.
func (t *Kernels) end(units int) (losses, pairs []float64, err error) {
	if err := t.device.Stream().Synchronize(); err != nil {
		return nil, nil, err
	}
	return t.series.end(units)
}

// launch starts to train units from first on, as far as their text is on the
// device and at most to end. It returns the first unit that is left.
func (t *Kernels) launch(first, end int) (int, error) {
	perEpoch := len(t.options.Units) - 1
	buffer, err := t.text.hold(first % perEpoch)
	if err != nil {
		return 0, fmt.Errorf("bring the text of unit %d: %w", first, err)
	}
	if len(t.text.buffers) > 1 {
		end = min(end, first-first%perEpoch+t.text.buffers[buffer].end)
	}
	t.useText(buffer)
	if err := t.launchSentences(t.sentence(first), t.sentence(end)); err != nil {
		return 0, err
	}
	return end, t.text.prepare(buffer)
}

// launchSentences starts to train sentences, counted over the epochs, of a text that is on the device.
func (t *Kernels) launchSentences(from, to int) error {
	if to-from > mostSentences {
		return fmt.Errorf("%d sentences in a launch", to-from)
	}
	t.args.first, t.args.all = uint64(from), uint32(to-from)
	if err := cu.MemsetD32Async(t.args.next, 0, 1, t.device.Stream()); err != nil {
		return err
	}
	grid := cuda.Grid{Blocks: t.options.InFlight, Threads: t.kernel.threads, Shared: t.kernel.shared}
	return cuda.Launch(t.device, t.run, grid, &t.args)
}

// sentence returns the number of a unit's first sentence, counted over the epochs.
func (t *Kernels) sentence(unit int) int {
	perEpoch := len(t.options.Units) - 1
	return unit/perEpoch*t.options.Units[perEpoch] + t.options.Units[unit%perEpoch]
}

// Close frees the memory that Device.Close does not free.
func (t *Kernels) Close() error { return t.device.Do(t.text.close) }
