package device

import (
	"context"
	"fmt"
	"sort"
	"sync"
	"time"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/kernels/cuda/sentence"
	"github.com/w2vcl/w2vcl/sequential"
	"github.com/w2vcl/w2vcl/train/cluster"
	"github.com/w2vcl/w2vcl/train/trainer"
	"github.com/w2vcl/w2vcl/walk"
)

// sentences trains a sentence-ordered mode on a device: it has the units and random numbers of
// sequential.Trainer. The device trains many sentences at the same time, as many
// threads do, so two runs give similar vectors, not the same.
type sentences struct {
	mirror
	kernels SentenceKernels
	words   []int // of each unit of an epoch
	pace
}

// NewSequential prepares training on a text with a sentence-ordered algorithm,
// as sequential.New does. With precision Half the device stores C in float16, and with HalfTables also W.
// Changes are then rounded up or down at random, so that their mean stays. CheckSequential gives
// the error of an algorithm or options without kernels.
func NewSequential(d Device, text *corpus.Corpus, noise *corpus.Alias, c sequential.Options, precision Precision) (Trainer, error) {
	if err := CheckSequential(c, precision); err != nil {
		return nil, err
	}
	c.Idle = true
	host, err := sequential.New(text, noise, c)
	if err != nil {
		return nil, err
	}
	// The first use of large tables takes as long as to prepare the device.
	var filling sync.WaitGroup
	filling.Go(host.Reset)
	defer filling.Wait()
	bounds, all := host.Bounds(), text.Text()
	t := &sentences{mirror: mirror{host: host, units: host.Units(), device: d}}
	for u, first := range bounds[:len(bounds)-1] {
		t.words = append(t.words, all.Start(bounds[u+1])-all.Start(first))
	}
	free, _, err := d.Memory()
	if err != nil {
		return nil, fmt.Errorf("cannot read the memory of %s: %w", d.Name(), err)
	}
	mode, _ := modeOf(c)
	radius := c.Window
	if !mode.Dynamic() {
		radius = sequential.Radius(c.Window)
	}
	sync, err := syncOf(d, all.Tokens(), text.Vocabulary.Len(), c)
	if err != nil {
		return nil, err
	}
	parts, err := partsOf(text, c, bounds, d.GPUs())
	if err != nil {
		return nil, err
	}
	t.kernels, err = newSentence(d, host, sentence.Options{
		Mode: mode, Vocabulary: text.Vocabulary.Len(), Dim: c.Dim, Negatives: c.Negatives, Radius: radius, Batch: host.Batch(),
		Epochs: c.Epochs, Seed: c.Seed, Alias: noise.Table(), Counts: text.Vocabulary.Counts, Keep: corpus.KeepThresholds(text.Vocabulary.Counts, c.Sample),
		Tokens: text.Tokens, Sentences: text.Sentences, Text: all, Walks: walksOf(text, c, free), Units: bounds, HalfPrecision: precision.Rounds(), HalfWords: precision == HalfTables,
		TextTokens: parts.tokens(free - memoryWithoutText(text, c, precision, free, d.GPUs())), Piece: pieceOf(c), Block: composedBlock, Sync: sync,
	}, c.Composition)
	if err != nil {
		return nil, err
	}
	return t, nil
}

// wordsOfRow is how many words for each row GPUs train between two combinations of more than manyRows at least, if nobody says how many: to
// combine the rows of 100 million nodes takes as long as to train 100 million words. Tables of fewer rows are combined in milliseconds.
const (
	wordsOfRow = 16
	manyRows   = 1 << 20
)

// syncOf returns how several GPUs combine their tables in a text of so many tokens, with so many rows.
func syncOf(d Device, tokens, rows int, c sequential.Options) (sentence.Sync, error) {
	if d.GPUs() < 2 {
		return sentence.Sync{}, nil
	}
	words, epochs := c.Run(tokens)
	o := c.Sync.WithDefaults(words, epochs)
	if c.Sync.Words == 0 {
		if d.ByMessages() {
			o.Words = seldom(tokens, words, epochs)
		}
		if rows > manyRows {
			o.Words = max(o.Words, min(wordsOfRow*rows, tokens))
		}
	}
	number, err := o.Rule.Number()
	return sentence.Sync{Rule: string(o.Rule), Number: number, Words: o.Words, HotWords: o.HotWords, Hot: o.Hot}, err
}

// seldom returns how many words GPUs that wait for each other train between two combinations, if nobody says so. They lose 1.4 ms each time
// (benchmarks/devices), so it is as seldom as scores allow (benchmarks/devices). The last
// combination of an epoch is that at its end.
func seldom(tokens, runWords, epochs int) int {
	const (
		ofRun = 16      // combinations at least
		most  = 1 << 24 // words between two, about
	)
	words := min(max(runWords/ofRun*epochs, 1), most)
	perEpoch := max((tokens+words/2)/words, 1)
	return max((tokens+perEpoch-1)/perEpoch, 1)
}

// MemorySequential estimates the bytes of the memory of each of so many GPUs that NewSequential
// takes if so many are free. A text that does not fit is brought in pieces.
func MemorySequential(text *corpus.Corpus, c sequential.Options, precision Precision, free int64, gpus int) (int64, error) {
	if !HasKernels(c.Algorithm) {
		return 0, fmt.Errorf("algorithm %s has no kernels", c.Algorithm)
	}
	bounds, err := sequential.Bounds(text.Text(), c)
	if err != nil {
		return 0, err
	}
	parts, err := partsOf(text, c, bounds, gpus)
	if err != nil {
		return 0, err
	}
	others := memoryWithoutText(text, c, precision, free, gpus)
	return others + parts.bytes(parts.tokens(free-others)), nil
}

// parts are the sizes of the parts of a text that each of several GPUs has; of one all.
type parts []*sentence.Sizes

// partsOf returns the parts of a text with units that begin with the given sentences.
func partsOf(text *corpus.Corpus, c sequential.Options, units []int, gpus int) (parts, error) {
	whole := sentence.Options{Text: text.Text(), Units: units, Piece: pieceOf(c)}
	if gpus < 2 {
		return parts{whole.Sizes()}, nil
	}
	shards, err := whole.Shards(gpus)
	var p parts
	for i := range shards {
		p = append(p, shards[i].Sizes())
	}
	return p, err
}

// bytes returns the memory of so many tokens of a part on its GPU, 0 standing for all: the most there is.
func (p parts) bytes(tokens int) (most int64) {
	for _, part := range p {
		most = max(most, part.Bytes(tokens))
	}
	return most
}

// tokens returns how many tokens of its part each GPU gets, with so many
// bytes left for them: 0 for all, or two pieces as large as is useful, each at
// least a unit.
func (p parts) tokens(left int64) int {
	const (
		reserve = 10        // part of the memory that is left alone
		largest = 256 << 20 // tokens; a quarter of a second
	)
	if p.bytes(0) <= left {
		return 0
	}
	unit, all := 0, 0
	for _, part := range p {
		unit, all = max(unit, part.LongestUnit()), max(all, part.Tokens)
	}
	least := 2 * unit
	more := sort.Search(max(min(largest, all)-least, 0), func(n int) bool { return p.bytes(least+n+1) > left-left/reserve })
	return min(least+more, all)
}

func memoryWithoutText(text *corpus.Corpus, c sequential.Options, precision Precision, free int64, gpus int) int64 {
	all := text.Text()
	longest := all.LongestSentence()
	v := text.Vocabulary.Len()
	work := 28*int64(v) + 8*sentence.MaxInFlight*int64(longest) + 8<<20 // alias table, shares of W and C, thresholds
	rows := 128 * int64(v) * int64((c.Dim+31)/32)                       // padded to 32 values
	tables := 2 * rows
	switch precision {
	case Half:
		tables = rows + rows/2
	case HalfTables:
		tables = rows
	}
	if gpus > 1 && (sentence.Sync{Rule: string(c.Sync.Rule)}).HasBases() {
		tables += 2 * (rows/int64(gpus) + 128*int64((c.Dim+31)/32)) // of its words, as they were combined last
	}
	if w := walksOf(text, c, free); w != nil {
		work += w.Bytes()
	}
	return tables + work + memoryComposed(c.Composition)
}

// Advance trains one unit; see AdvanceSeries.
func (t *sentences) Advance(ctx context.Context, unit int, rate float64) (trainer.Report, error) {
	return trainer.AdvanceOne(ctx, t, unit, rate)
}

// AdvanceSeries trains the units first, first+1, ..., one for each of the rates,
// in one launch.
func (t *sentences) AdvanceSeries(ctx context.Context, first int, rates []float64) ([]trainer.Report, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	count := len(rates)
	if first < 0 || first+count > t.Units() || count == 0 {
		return nil, fmt.Errorf("there are no units %d to %d: units are 0 to %d", first, first+count-1, t.Units()-1)
	}
	if err := t.Ready(); err != nil {
		return nil, err
	}
	list := make([]float32, count)
	for i, rate := range rates {
		list[i] = float32(rate)
	}
	start := time.Now()
	losses, pairs, err := t.kernels.Train(first, list)
	if err != nil {
		return nil, err
	}
	t.took(count, time.Since(start))
	reports := make([]trainer.Report, count)
	for i := range reports {
		reports[i] = trainer.Report{Loss: losses[i], Pairs: pairs[i], Words: float64(t.words[(first+i)%len(t.words)])}
	}
	return reports, nil
}

// Follow does what rank 0 orders, on another of several ranks (OnRanks), until training ends. When ctx ends the run stops.
func (t *sentences) Follow(ctx context.Context) error { return cluster.Follow(ctx, t.kernels) }

// Ready brings the host's tables to the device unless the device has them.
func (t *sentences) Ready() error {
	if t.sent {
		return nil
	}
	if err := t.kernels.SetTables(t.host.Tables()); err != nil {
		return err
	}
	t.sent = true
	return nil
}

// Pull brings W and C to the host; there is no other state.
func (t *sentences) Pull(bool) error {
	if !t.sent {
		return nil // the host has everything
	}
	if err := t.kernels.Tables(t.host.Tables()); err != nil {
		return fmt.Errorf("receive the state of training: %w", err)
	}
	return nil
}

// Close frees the trainer's memory on the device. The device stays open.
func (t *sentences) Close() error { return t.kernels.Close() }

// walksOf returns the walks that a text is, if a device with so many bytes free makes them itself. Otherwise it returns nil, and the
// host walks: the graph has to leave half of the memory for tables and text, and composed words are trained in pieces of sentences.
func walksOf(text *corpus.Corpus, c sequential.Options, free int64) *sentence.Walks {
	p, ok := text.Text().Source().(*walk.Plan)
	if !ok || c.Composition != nil {
		return nil
	}
	w := &sentence.Walks{
		Seed: p.Seed, Starts: p.Starts, Ends: p.Ends, Cells: p.Cells, FirstOrder: p.FirstOrder, Directed: p.Directed, Starters: p.Starters,
		Back: p.Back, Near: p.Near, Far: p.Far, Folded: p.Folded, FoldedAcceptance: p.FoldedAcceptance,
	}
	for round := range p.Rounds {
		o := p.Order(round)
		w.Orders = append(w.Orders, sentence.Order{Keys: o.Keys, Low: uint64(o.Low), High: uint64(o.High)})
	}
	if w.Bytes() > free/2 {
		return nil
	}
	return w
}
