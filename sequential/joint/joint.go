// Package joint trains sentence-ordered modes on several ranks. Each has a part of the text and tables of its own, which are combined
// now and then by a rule (sequential.Rule): Hogwild inside a rank, local steps between them. Start at [New]; [Read] reads the part.
//
// With one thread a rank the result follows from the settings and the number of ranks: the tables are combined after the same units
// and in the order of the ranks.
package joint

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/internal/team"
	"github.com/w2vcl/w2vcl/sequential"
	"github.com/w2vcl/w2vcl/train/cluster"
	"github.com/w2vcl/w2vcl/train/trainer"
)

// A Trainer is one rank's.
type Trainer struct {
	group     *cluster.Group
	own       *sequential.Trainer
	options   sequential.Sync
	perRun    int // units of all epochs
	next      int // unit to train
	units     int // of an epoch
	tokens    int // of the whole text
	dim       int
	blockRows int // rows that are combined at a time
	tables    []*table
	workers   *team.Team
	work      work
}

// Plan asks an account for what New takes on each rank.
func Plan(a *trainer.Account, words, tokens int, c sequential.Options) error {
	if err := sequential.Plan(a, words, tokens, c); err != nil {
		return err
	}
	state := []int{words * c.Dim, words * c.Dim} // of the trainer, values
	switch {
	case c.Composition != nil:
		state = []int{len(c.Composition.Parts), len(c.Composition.Own), words * c.Dim}
	case c.HierarchicalSoftmax:
		state = append(state, words*c.Dim)
	}
	allocate(a, state)
	return a.Err()
}

// allocate returns copies of the tables of the trainer's state. It takes the memory of a combination.
func allocate(a *trainer.Account, state []int) (bases [][]float32) {
	for _, values := range state {
		bases = append(bases, a.Floats(trainer.ForWork, values))
	}
	a.Take(trainer.ForWork, 4*blockBytes) // with what other ranks have sent
	return bases
}

// How often all rows are combined if nobody says so: seldomer than GPUs of one host do it, for which it is cheap.
const (
	perEpoch  = 4
	mostWords = 1 << 24 // of the text between two
	hotTimes  = 8       // from one combination of all rows to the next those of frequent words are combined so often
)

// mostFactor is as far as Factor was measured: of 8 ranks by adasum, of the published scripts by the mean.
const mostFactor = 2

// Factor is by how much so many ranks multiply the learning rate.
//
// Adasum averages what is parallel in the changes, so together ranks move a row less than one process would in as many words. With the third
// root of their number they score as one process does (benchmarks/tried/earlier.md). For sub-model synchronisation pWord2Vec's paper raises the rate
// with the number of hosts and gives no numbers. The published scripts train four hosts at twice the rate of one, hence the square root.
func Factor(ranks int, o sequential.Sync) float64 {
	switch {
	case o.Rule == sequential.Adasum:
		return min(math.Cbrt(float64(ranks)), mostFactor)
	case o.Doubles:
		return min(math.Sqrt(float64(ranks)), mostFactor)
	}
	return 1
}

// publishedPeriod is how many words a host of pWord2Vec's paper trains between two combinations: .1 s at 5.8 million words/s.
const publishedPeriod = 580_000

// Options say how often so many ranks combine rows, and how, in a text of so many tokens.
//
// If nobody says how often, the rule decides. By adasum the rows of frequent words are combined more often than the others: between two
// combinations all ranks move them the same way, of which adasum keeps the mean. By the mean, rows are combined as published for pWord2Vec.
func Options(tokens, ranks int, c sequential.Options) sequential.Sync {
	o := c.Sync
	if o.Rule == sequential.Mean && o.Words == 0 && o.HotWords == 0 {
		o.Words, o.HotWords, o.Doubles = max(tokens, 1), publishedPeriod*ranks, true
		return o
	}
	o.Words = cmp.Or(o.Words, min(max(tokens/perEpoch, 1), mostWords))
	o = o.WithDefaults(tokens, c.Epochs)
	if o.HotWords == 0 && o.Rule == sequential.Adasum {
		o.HotWords = max(o.Words/hotTimes, 1)
	}
	return o
}

// New prepares training on a rank's part of a text, which begins with token number first of the whole. All ranks call it, with the same settings
// and vocabulary.
func New(group *cluster.Group, part *corpus.Corpus, first int, noise *corpus.Alias, c sequential.Options) (*Trainer, error) {
	if _, err := c.Sync.Rule.Number(); c.Sync.Rule != "" && err != nil {
		return nil, err
	}
	t := &Trainer{group: group, dim: c.Dim}
	units, err := t.agree(part, first, &c)
	if err != nil {
		return nil, err
	}
	c.Part = sequential.Part{First: first, Tokens: t.tokens, Units: units}
	t.own, err = sequential.New(part, noise, c)
	if err := cluster.Agree(t.group, err); err != nil {
		return nil, err
	}
	t.units, t.perRun = units, t.own.Units()
	t.options = Options(t.tokens, group.Size(), c)
	t.workers, t.blockRows = team.New(c.Threads), max(blockBytes/(4*c.Dim), 1)
	var state []int
	for _, s := range t.own.State() {
		state = append(state, len(s.Data))
	}
	bases := allocate(c.Account, state)
	if err := cluster.Agree(t.group, c.Account.Err()); err != nil {
		return nil, err
	}
	for i, s := range t.own.State() {
		t.tables = append(t.tables, &table{name: s.Name, data: s.Data, base: bases[i], rows: len(s.Data) / t.dim})
	}
	t.remember()
	t.newWork()
	return t, nil
}

// agree finds what follows from all parts: the tokens of the text and the units of an epoch.
func (t *Trainer) agree(part *corpus.Corpus, first int, c *sequential.Options) (units int, err error) {
	text := part.Text()
	if text.Tokens() == 0 {
		err = fmt.Errorf("no sentence of the text is left for this rank: it is too short for %d ranks", t.group.Size())
	}
	if err := cluster.Agree(t.group, err); err != nil {
		return 0, err
	}
	tokens := []uint64{uint64(text.Tokens())}
	if err := cluster.Sum(t.group, tokens); err != nil {
		return 0, err
	}
	t.tokens = int(tokens[0])
	c.Part = sequential.Part{First: first, Tokens: t.tokens}
	own, err := sequential.UnitsOfPart(text, *c)
	if err := cluster.Agree(t.group, err); err != nil {
		return 0, err
	}
	all, err := cluster.Each(t.group, uint64(own))
	return int(slices.Max(all)), err
}

// combinedAfter returns how many rows of each table are combined when unit u of the run is trained: those of the most frequent words, or
// all at certain units and at the end of an epoch; 0 for none.
func (t *Trainer) combinedAfter(u int) (rows int, all bool) {
	o := t.options
	epoch, u := t.tokens*(u/t.units), u%t.units // tokens before this epoch
	before, after := t.tokens*u/t.units, t.tokens*(u+1)/t.units
	if u == t.units-1 || after/o.Words > before/o.Words {
		return 0, true
	}
	if o.HotWords == 0 {
		return 0, false
	}
	if !o.Doubles { // counted from the start of the epoch
		epoch = 0
	}
	rows = o.HotRows((epoch+before)/o.HotWords, (epoch+after)/o.HotWords)
	return rows, rows >= t.largest()
}

// PausesAfter reports whether training can stop, and be saved, after so many units of the run: whether all rows are combined then, so that all
// ranks have the same tables.
func (t *Trainer) PausesAfter(units int) bool {
	if units == 0 {
		return true
	}
	_, all := t.combinedAfter(units - 1)
	return all
}

// train trains some units. The reports are those of all ranks together.
func (t *Trainer) train(first int, rates []float64) ([]trainer.Report, error) {
	t.next = first + len(rates)
	reports, factor := make([]trainer.Report, len(rates)), Factor(t.group.Size(), t.options)
	for i, rate := range rates {
		var err error
		if reports[i], err = t.own.Advance(context.Background(), first+i, rate*factor); err != nil {
			return nil, err
		}
		rows, all := t.combinedAfter(first + i)
		if all {
			rows = t.largest()
		}
		if rows == 0 || t.group.Size() == 1 { // one alone keeps what it has, without rounding
			continue
		}
		for _, x := range t.tables {
			if err := t.combine(x, min(rows, x.rows)); err != nil {
				return nil, err
			}
		}
	}
	return reports, t.sum(reports)
}

func (t *Trainer) largest() (rows int) {
	for _, x := range t.tables {
		rows = max(rows, x.rows)
	}
	return rows
}

// sum adds up the reports of all ranks, in their order.
func (t *Trainer) sum(reports []trainer.Report) error {
	var own []float64
	for _, r := range reports {
		own = append(own, r.Loss, r.Pairs, r.Words)
	}
	all, err := cluster.Collect(t.group, own)
	if err != nil {
		return err
	}
	for i := range reports {
		reports[i] = trainer.Report{}
		for _, other := range all {
			reports[i].Loss += other[3*i]
			reports[i].Pairs += other[3*i+1]
			reports[i].Words += other[3*i+2]
		}
	}
	return nil
}

// remember takes the tables as what all ranks have.
func (t *Trainer) remember() {
	for _, x := range t.tables {
		copy(x.base, x.data)
	}
}

// Options say how often rows are combined, and how.
func (t *Trainer) Options() sequential.Sync { return t.options }
