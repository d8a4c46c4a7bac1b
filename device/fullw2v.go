package device

import (
	"context"
	"fmt"
	"time"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/kernels/cuda/fullw2v"
	"github.com/w2vcl/w2vcl/sequential"
	"github.com/w2vcl/w2vcl/trainer"
)

// FullW2V trains FULL-W2V on a device: units and random numbers are those of
// sequential.Trainer. Many sentences are trained at the same time, as on many
// threads, so two runs give similar, not the same vectors.
type FullW2V struct {
	mirror[*sequential.Trainer]
	kernels FullW2VKernels
	words   []int // of each unit of an epoch

	trained int     // units of the last launch
	seconds float64 // of a unit in it
}

// NewFullW2V prepares training on a text, as sequential.NewFrom does with
// algorithm fullw2v. With precision Half the device's C is float16: what is added
// to it is rounded at random, up or down, so that the mean stays.
func NewFullW2V(d Device, text *corpus.Corpus, noise *corpus.Alias, start sequential.Tables, c sequential.Config, precision Precision) (*FullW2V, error) {
	if c.Algorithm != sequential.FullW2V {
		return nil, fmt.Errorf("algorithm %s has no kernels", c.Algorithm)
	}
	c.Threads = 1 // the host only keeps tables
	host, err := sequential.NewFrom(text, noise, start, c)
	if err != nil {
		return nil, err
	}
	bounds := host.Bounds()
	t := &FullW2V{mirror: mirror[*sequential.Trainer]{host: host, device: d}}
	for u, first := range bounds[:len(bounds)-1] {
		t.words = append(t.words, text.Sentences[bounds[u+1]]-text.Sentences[first])
	}
	free, _, err := d.Memory()
	if err != nil {
		return nil, fmt.Errorf("ask %s for its memory: %w", d.Name(), err)
	}
	t.kernels, err = d.NewFullW2V(fullw2v.Config{
		Vocabulary: text.Vocabulary.Len(), Dim: c.Dim, Negatives: c.Negatives, Radius: sequential.FixedWindow(c.Window),
		Epochs: c.Epochs, Seed: c.Seed, Alias: noise.Table(), Counts: text.Vocabulary.Counts, Keep: corpus.KeepThresholds(text.Vocabulary.Counts, c.Sample),
		Tokens: text.Tokens, Sentences: text.Sentences, Units: bounds, HalfPrecision: precision == Half,
		TextTokens: textTokens(text, c, free-memoryWithoutText(text, c, precision)),
	})
	if err != nil {
		return nil, err
	}
	return t, nil
}

// MemoryFullW2V estimates the bytes of the device's memory that NewFullW2V takes
// if so many are free. A text that has no room is brought in pieces.
func MemoryFullW2V(text *corpus.Corpus, c sequential.Config, precision Precision, free int64) int64 {
	tables := memoryWithoutText(text, c, precision)
	if n := textTokens(text, c, free-tables); n > 0 {
		return tables + 4*int64(n)
	}
	return tables + 4*int64(len(text.Tokens))
}

// textTokens returns how many tokens of the text are to be on the device, with so
// many bytes left for them: 0 for all, or two pieces that are as large as is of
// use, and have room for a unit each.
func textTokens(text *corpus.Corpus, c sequential.Config, left int64) int {
	const (
		reserve = 10        // part of the memory that is left alone
		largest = 256 << 20 // tokens; a quarter of a second
	)
	if 4*int64(len(text.Tokens)) <= left {
		return 0
	}
	unit := sequential.LongestUnit(text.Sentences, c.Epochs)
	return min(max(2*unit, int(min(left-left/reserve, 4*largest)/4)), len(text.Tokens))
}

func memoryWithoutText(text *corpus.Corpus, c sequential.Config, precision Precision) int64 {
	longest := 1
	for i, start := range text.Sentences[1:] {
		longest = max(longest, start-text.Sentences[i])
	}
	v, sentences := text.Vocabulary.Len(), int64(len(text.Sentences))
	work := 24*int64(v) + 12*sentences + 4*fullw2v.MaxInFlight*int64(longest) + 1<<20 // alias table, shares, thresholds, bounds, units
	rows := 128 * int64(v) * int64((c.Dim+31)/32)                                     // in pieces of 32 values
	tables := 2 * rows
	if precision == Half {
		tables = rows + rows/2
	}
	return tables + work
}

// launchSeconds is how long a launch should take: so long that its end, when
// the last sentences leave the device half empty, is no loss, and so short that
// progress is seen and an interrupt is felt.
const launchSeconds = 0.15

// SeriesLength returns how many units to train at a time: more and more, up to
// launchSeconds.
func (t *FullW2V) SeriesLength() int {
	if t.trained == 0 {
		return 1
	}
	return max(1, min(4*t.trained, int(launchSeconds/max(t.seconds, 1e-9))))
}

// Advance trains one unit; see AdvanceSeries.
func (t *FullW2V) Advance(ctx context.Context, unit int, rate float64) (trainer.Report, error) {
	reports, err := t.AdvanceSeries(ctx, unit, []float64{rate})
	if err != nil {
		return trainer.Report{}, err
	}
	return reports[0], nil
}

// AdvanceSeries trains the units first, first+1, ..., one for each of the rates,
// in one launch.
func (t *FullW2V) AdvanceSeries(ctx context.Context, first int, rates []float64) ([]trainer.Report, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	count := len(rates)
	if first < 0 || first+count > t.Units() || count == 0 {
		return nil, fmt.Errorf("there are no units %d to %d: units are 0 to %d", first, first+count-1, t.Units()-1)
	}
	if err := t.send(); err != nil {
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
	t.trained, t.seconds = count, time.Since(start).Seconds()/float64(count)
	reports := make([]trainer.Report, count)
	for i := range reports {
		reports[i] = trainer.Report{Loss: losses[i], Pairs: pairs[i], Words: float64(t.words[(first+i)%len(t.words)])}
	}
	return reports, nil
}

// send brings the host's tables to the device unless they are there.
func (t *FullW2V) send() error {
	if t.sent {
		return nil
	}
	if err := t.kernels.SetTables(t.host.Tables()); err != nil {
		return err
	}
	t.sent = true
	return nil
}

// Pull brings W and C, which are all there is, to the host.
func (t *FullW2V) Pull(bool) error {
	if !t.sent {
		return nil // the host has what there is
	}
	if err := t.kernels.Tables(t.host.Tables()); err != nil {
		return fmt.Errorf("receive the state of training: %w", err)
	}
	return nil
}

// Close frees what is on the device, but not the device.
func (t *FullW2V) Close() error { return t.kernels.Close() }
