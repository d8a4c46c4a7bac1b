package stock

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/w2vcl/w2vcl/graph"
	"github.com/w2vcl/w2vcl/internal/operation"
	"github.com/w2vcl/w2vcl/subword"
	"github.com/w2vcl/w2vcl/train/trainer"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Options are the shape of a Network. The zero value of a field means its default; Dim must be set.
type Options struct {
	Dim      int     // N, values of a word vector
	Hidden   int     // H, values of a symbol's embedding and of the network's state; default 32
	Rate     float64 // learning rate relative to the rate of words' own vectors; default 1
	Spelling subword.SpellingOptions
}

// A Network is an encoder of a word's symbols by one of the networks of this package.
type Network struct {
	kind       string
	options    Options
	alphabet   *subword.Alphabet
	vocabulary *subword.Spellings
	parameters []graph.Parameter
}

var _ subword.Described = (*Network)(nil)

func init() {
	for name := range kinds {
		subword.Kinds[name] = func(options []byte, symbols []string, fits func(values float64) error) (subword.Encoder, error) {
			var o Options
			if err := json.Unmarshal(options, &o); err != nil {
				return nil, err
			}
			return load(name, o, symbols, fits)
		}
	}
}

// Names returns the names of the networks, sorted.
func Names() []string { return slices.Sorted(maps.Keys(kinds)) }

// New makes an encoder of a vocabulary by the network of a name. Its parameters are zero: Randomize or load them.
func New(name string, vocabulary []string, o Options) (*Network, error) {
	if _, ok := kinds[name]; !ok {
		return nil, fmt.Errorf("network %q is unknown; there are %v", name, Names())
	}
	var err error
	if o.Spelling, err = o.Spelling.WithDefaults(); err != nil {
		return nil, fmt.Errorf("%s network: %w", name, err)
	}
	alphabet, err := subword.NewAlphabet(vocabulary, o.Spelling)
	if err != nil {
		return nil, fmt.Errorf("%s network: %w", name, err)
	}
	e, err := newNetwork(name, o, alphabet, func(float64) error { return nil })
	if err == nil {
		e.vocabulary = alphabet.Spell(vocabulary, 0)
	}
	return e, err
}

// load makes an encoder without a vocabulary.
func load(name string, o Options, symbols []string, fits func(values float64) error) (subword.Encoder, error) {
	if _, err := o.Spelling.WithDefaults(); err != nil || o.Spelling.Limit < 2 {
		return nil, fmt.Errorf("words cannot have at most %d symbols of %v characters", o.Spelling.Limit, o.Spelling.Gram)
	}
	e, err := newNetwork(name, o, subword.AlphabetOf(symbols, o.Spelling), fits)
	if err != nil {
		return nil, err
	}
	return e, nil
}

func newNetwork(name string, o Options, alphabet *subword.Alphabet, fits func(values float64) error) (*Network, error) {
	if o.Hidden = cmp.Or(o.Hidden, 32); o.Dim < 1 || o.Hidden < 1 {
		return nil, fmt.Errorf("%s network: dimension is %d, with states of %d values; both must be at least 1", name, o.Dim, o.Hidden)
	}
	if len(o.Spelling.Gram) != 1 {
		return nil, fmt.Errorf("%s network: symbols of %v characters; it reads one length", name, o.Spelling.Gram)
	}
	e := &Network{kind: name, options: o, alphabet: alphabet, vocabulary: alphabet.Spell(nil, 0)}
	shapes, values := kinds[name].shapes(o, alphabet.Len()), 0.0
	for _, s := range shapes {
		values += float64(s.rows) * float64(s.columns)
	}
	if err := fits(values); err != nil {
		return nil, err
	}
	for _, s := range shapes {
		value := tensor.New(tensor.WithShape(s.rows, s.columns), tensor.Of(tensor.Float32))
		e.parameters = append(e.parameters, graph.Parameter{Name: s.name, Value: value, Rate: o.Rate})
	}
	return e, nil
}

// Describe returns what a file has beside the parameters.
func (e *Network) Describe() (kind string, options any, alphabet *subword.Alphabet) {
	return e.kind, e.options, e.alphabet
}

// Words is V.
func (e *Network) Words() int { return e.vocabulary.Len() }

// Dim is N.
func (e *Network) Dim() int { return e.options.Dim }

// Truncated is the number of vocabulary words longer than the limit.
func (e *Network) Truncated() int { return e.vocabulary.Truncated }

// Parameters lists the matrices of the network, live.
func (e *Network) Parameters() []graph.Parameter { return slices.Clone(e.parameters) }

// Randomize fills the parameters uniformly in the limits of Glorot and Bengio (2010), embeddings in ±0.5, and what
// comes last so that vectors start small.
func (e *Network) Randomize(seed uint64) {
	for i, p := range e.parameters {
		limit := math.Sqrt(6 / float64(p.Value.Shape().TotalSize()/p.Value.Shape()[1]+p.Value.Shape()[1]))
		switch i {
		case 0:
			limit = 0.5
		case len(e.parameters) - 1:
			limit = 1 / float64(e.options.Hidden)
		}
		trainer.Uniform(p.Value.Float32s(), limit, seed, i)
	}
}

// Rows adds the network for a batch of words to the graph of the parameters.
func (e *Network) Rows(parameters gorgonia.Nodes, batch []uint32, threads int) (_ *gorgonia.Node, err error) {
	defer operation.Recovered("build the graph of a "+e.kind+" network", &err)
	if len(parameters) != len(e.parameters) {
		return nil, fmt.Errorf("%s network: %d parameters instead of %d", e.kind, len(parameters), len(e.parameters))
	}
	return e.rows(e.vocabulary, parameters, batch, threads), nil
}

func (e *Network) rows(spelt *subword.Spellings, parameters gorgonia.Nodes, batch []uint32, threads int) *gorgonia.Node {
	w := &words{options: e.options, parameters: map[string]*gorgonia.Node{}, spelt: spelt, batch: batch, longest: spelt.Longest(), threads: threads}
	for i, p := range e.parameters {
		w.parameters[p.Name] = parameters[i]
	}
	return kinds[e.kind].rows(w)
}

// Bytes is about the memory of a graph of Rows: for each place of the longest word some states of each word. Gorgonia's operations
// make their results anew, so some of it is free again after a run.
func (e *Network) Bytes() (rows, gradient, free int64) {
	k, v, longest := kinds[e.kind], e.Words(), e.vocabulary.Longest()
	vectors := 4 * int64(v) * int64(e.options.Dim)
	bytes := func(h held) int64 { return h.bytes(v, longest, e.options.Hidden) + vectors }
	return bytes(k.forRows) + vectors, bytes(k.forGradient), bytes(k.free)
}

// encodeBytes is about the memory of the graphs of Encode: of one, and of one before that is garbage.
const encodeBytes = 4 << 20

// EncodeBytes is about the memory of Encode.
func (e *Network) EncodeBytes() int64 { return encodeBytes }

// encodeRows is how many words Encode takes at a time.
func (e *Network) encodeRows() int {
	word := kinds[e.kind].forRows.bytes(1, e.options.Spelling.Limit, e.options.Hidden) + 8*int64(e.options.Dim)
	return int(max(encodeBytes/2/word, 1))
}

// Encode writes the vectors of words, any strings, to dst, len(words) x Dim: it runs a graph of some words at a time.
func (e *Network) Encode(words []string, dst []float32) (err error) {
	defer operation.Recovered("run a "+e.kind+" network", &err)
	n := e.options.Dim
	if len(dst) != len(words)*n {
		return fmt.Errorf("%s network: vectors of %d words with %d dimensions do not fit in %d values", e.kind, len(words), n, len(dst))
	}
	atATime := e.encodeRows()
	for first := 0; first < len(words); first += atATime {
		part := words[first:min(first+atATime, len(words))]
		g := gorgonia.NewGraph()
		var nodes gorgonia.Nodes
		for _, p := range e.parameters {
			nodes = append(nodes, gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithName(p.Name), gorgonia.WithShape(p.Value.Shape()...), gorgonia.WithValue(p.Value)))
		}
		rows := e.rows(e.alphabet.Spell(part, 0), nodes, nil, 1)
		machine, err := operation.NewMachine(g)
		if err != nil {
			return err
		}
		if err := machine.RunAll(); err != nil {
			return err
		}
		copy(dst[first*n:], rows.Value().Data().([]float32))
		if err := machine.Close(); err != nil {
			return err
		}
	}
	return nil
}

// words are a batch in a graph.
type words struct {
	options    Options
	parameters map[string]*gorgonia.Node
	spelt      *subword.Spellings
	batch      []uint32 // nil: all
	longest    int      // symbols of a word
	threads    int
	constants  int
}

// rowsOf returns the rows of a parameter that belong to the symbols at a place of all words, counted from their
// ends, (B, H): zeros of shorter words.
func (w *words) rowsOf(parameter string, place int) *gorgonia.Node {
	return gorgonia.Must(subword.SumRows(w.spelt.Place(place), w.parameters[parameter], w.batch, w.threads))
}

// has returns 1 for words that have a symbol at a place, 0 for others, (B, 1).
func (w *words) has(place int) *gorgonia.Node {
	ones := w.constant("has", w.parameters["symbols"].Shape()[0], 1, func(int) float32 { return 1 })
	return gorgonia.Must(subword.SumRows(w.spelt.Place(place), ones, w.batch, w.threads))
}

// constant returns a matrix of given values. No two have one name: Gorgonia would take them for the same.
func (w *words) constant(name string, rows, columns int, value func(i int) float32) *gorgonia.Node {
	values := make([]float32, rows*columns)
	for i := range values {
		values[i] = value(i)
	}
	w.constants++
	matrix := tensor.New(tensor.WithShape(rows, columns), tensor.WithBacking(values))
	return gorgonia.NewMatrix(w.parameters["symbols"].Graph(), tensor.Float32,
		gorgonia.WithName(fmt.Sprintf("%s %d", name, w.constants)), gorgonia.WithShape(rows, columns), gorgonia.WithValue(matrix))
}
