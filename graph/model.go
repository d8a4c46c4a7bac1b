package graph

import (
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/team"
	"github.com/w2vcl/w2vcl/train/trainer"
)

// A Model is what training changes: the table of words W, or what its rows are made of, the table of
// contexts C, and the moments of both. Each trainer of this package has one. So has each trainer on a
// device, which brings the state there and back.
type Model struct {
	options  Options
	words    *table // W, or the rows that are composed
	own      *table // words' own rows: W, or beside parts; else nil
	contexts *table // C
	// positions are the weights of offsets in a window, -W ... -1, 1 ... W, (2W, N); nil: windows have plain means
	positions *table
	team      *team.Team     // of as many threads as the options say
	made      wordRows       // what W is made of
	encoder   *encoderRows   // = made, if W is composed by an encoder; else nil
	counts    trainer.Tensor // of minibatches; without a name: nothing
}

// Counts are what State has beside tables and moments.
type Counts int

// The counts, which start at zero.
const (
	NoCounts      Counts = iota
	OfUpdates            // how often each row of C, and each part, moved
	OfMinibatches        // the minibatches trained so far, MinibatchesTensor
)

// Updates ends the name of a tensor of State that counts how often the rows of a table moved.
const Updates = ".updates"

// NewModel returns the model of a vocabulary at the start of training. From a dry account it has no memory.
func NewModel(rows int, counts Counts, c Options) (m *Model, err error) {
	if c, err = c.forWords(rows); err != nil {
		return nil, err
	}
	workers := team.New(c.Threads)
	m = &Model{options: c, team: workers}
	if counts == OfMinibatches {
		m.counts = trainer.Tensor{Name: MinibatchesTensor, Data: c.Account.Floats(trainer.ForMoments, minibatchesDigits)}
	}
	if m.contexts, err = newTable("contexts", rows, c); err != nil {
		return nil, err
	}
	if c.Positions > 0 {
		if m.positions, err = newPositions(c); err != nil {
			return nil, err
		}
	}
	switch {
	case c.Composition != nil:
		m.words = newFrozen("composed", rows, c)
		var made *partRows
		if made, err = newPartRows(m.words, c, workers); err == nil && made.own != nil {
			m.own = made.own.table
		}
		if err == nil && counts == OfUpdates { // in CL most parts move in each iteration
			made.parts.count(c.Account.Floats(trainer.ForMoments, c.Composition.PartCount()))
		}
		m.made = made
	case c.Encoder != nil:
		if m.encoder, err = newEncoderRows(c, workers); err == nil {
			m.made, m.words = m.encoder, m.encoder.words
		}
	default:
		m.words, err = newTable("words", rows, c)
		m.own = m.words
		m.made = &ownRows{table: m.words, team: workers, seed: c.Seed}
	}
	if counts == OfUpdates {
		m.contexts.count(c.Account.Floats(trainer.ForMoments, rows))
		if m.own != nil {
			m.own.updates = m.contexts.counts.of // C moves first, and the same rows
		}
	}
	if err == nil && c.Account.Live() {
		err = m.start()
	}
	return m, err
}

// start fills new tables: W random, or as its encoder starts, C zero, and over them what the options say. An encoder's words get
// own vectors that make W so.
func (m *Model) start() error {
	m.made.randomize()
	if p := m.positions; p != nil && copy(p.data, m.options.StartPositions) == 0 {
		for i := range p.data {
			p.data[i] = 1
		}
	}
	start, words, contexts := m.options.Start, m.words.data, m.contexts.data
	encoder, ok := m.options.Encoder.(Starting)
	switch {
	case start == nil:
	case m.own == m.words:
		start(words, contexts)
	case ok:
		if err := m.Refresh(); err != nil {
			return err
		}
		trainer.AddContexts(encoder.Own(), encoder.Own(), words, -1, m.options.Threads)
		start(words, contexts)
		trainer.AddContexts(encoder.Own(), encoder.Own(), words, 1, m.options.Threads)
	default:
		start(nil, contexts)
	}
	return nil
}

// count says how often the rows of a word have moved, in both tables, with this time.
func (m *Model) count(updates func(word int) int) {
	m.contexts.updates = updates
	if m.own != nil {
		m.own.updates = updates
	}
}

// Tables returns W and C, V x Dim in row-major order, live. Rows that are composed may be
// older than what they are composed of: Refresh composes them.
func (m *Model) Tables() (words, contexts []float32) { return m.words.data, m.contexts.data }

// Refresh brings the table of words up to date with what it is composed of.
func (m *Model) Refresh() error { return m.made.refresh() }

// State returns everything that training changes, live, in a fixed order.
func (m *Model) State() []trainer.Tensor {
	all := append(m.made.state(), m.contexts.state()...)
	if m.positions != nil {
		all = append(all, m.positions.state()...)
	}
	if m.counts.Name != "" {
		all = append(all, m.counts)
	}
	return all
}

// Ready gives the tables and moments their memory: the first unit of training would wait for
// it row by row.
func (m *Model) Ready() error {
	for _, s := range m.State() {
		memory.Touch(s.Data, m.options.Threads)
	}
	return nil
}

// Reset goes back to the start of training, as if nothing had been trained.
func (m *Model) Reset() {
	for _, s := range m.State() {
		clear(s.Data)
	}
	if err := m.start(); err != nil {
		panic(err) // at the first start there was none
	}
}
