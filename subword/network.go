package subword

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/w2vcl/w2vcl/graph"
	"github.com/w2vcl/w2vcl/internal/operation"
	kernels "github.com/w2vcl/w2vcl/kernels/cuda/subword"
	"github.com/w2vcl/w2vcl/train/trainer"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// A network is the encoder that a Network makes: its features, standardization, and a fully connected layer to N.
type network struct {
	Network
	options    NetworkOptions
	alphabet   *Alphabet
	vocabulary *Spellings
	matrices   []Matrix // the last is the weights of the layer, (D+1, N)
	parameters []graph.Parameter
	statistics *Statistics // of the vocabulary's features, in the last run of Rows; nil if they are raw
	shift                  // of a file; Encode adds its offset
	start      *network    // that training goes on from; nil: it starts anew
}

// NewNetwork makes an encoder of a vocabulary by the network of a name. Its parameters are zero: Randomize or load them.
func NewNetwork(name string, vocabulary []string, o NetworkOptions) (Encoder, error) {
	n, err := newNetwork(name, vocabulary, o)
	if err != nil {
		return nil, fmt.Errorf("network %s: %w", name, err)
	}
	return n, nil
}

func newNetwork(name string, vocabulary []string, o NetworkOptions) (*network, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	alphabet, err := NewAlphabet(vocabulary, o.Spelling)
	if err != nil {
		return nil, err
	}
	o.Spelling = alphabet.options // with the lengths that are hashed
	n, err := makeNetwork(name, alphabet, o, func(float64) error { return nil })
	if err == nil {
		n.vocabulary = n.spell(vocabulary)
	}
	return n, err
}

// makeNetwork makes a network without a vocabulary, unless fits returns an error for its number of values.
func makeNetwork(name string, alphabet *Alphabet, o NetworkOptions, fits func(values float64) error) (*network, error) {
	of, known := findNetwork(name)
	if !known {
		return nil, fmt.Errorf("this w2vcl does not know it")
	}
	matrices, features, err := of.Matrices(o, alphabet.Len())
	if err != nil {
		return nil, err
	}
	// With these weights, vectors start small.
	layer := Matrix{Name: "weights", Rows: features + 1, Columns: o.Dim, Start: 1 / float64(features), Bias: true}
	n := &network{Network: of, options: o, alphabet: alphabet, matrices: append(matrices, layer)}
	n.vocabulary = &Spellings{starts: []uint32{0}}
	values, taken := 0.0, []string{"words", "contexts"} // by other tables of a run
	for _, m := range n.matrices {
		if m.Rows < 1 || m.Columns < 1 || features < 1 || slices.Contains(taken, m.Name) {
			return nil, fmt.Errorf("matrix %q of %d rows, %d columns: it is empty, or its name is taken", m.Name, m.Rows, m.Columns)
		}
		taken = append(taken, m.Name)
		values += float64(m.Rows) * float64(m.Columns)
	}
	if err := fits(values); err != nil {
		return nil, err
	}
	for _, m := range n.matrices {
		rate := cmp.Or(m.Rate, 1) * cmp.Or(o.Rate, 1)
		if m.Bias {
			rate *= kernels.Structure{LayerRates: o.LayerRates}.LayerRate(m.Rows - 1)
		}
		n.parameters = append(n.parameters, graph.Parameter{Name: m.Name, Value: newMatrix(m.Rows, m.Columns), Rate: rate})
	}
	if !o.Raw {
		n.statistics = newStatistics(features)
	}
	return n, nil
}

// spell returns the symbols of words. Those of a CNN are filled up to its widest filter.
func (n *network) spell(words []string) *Spellings {
	least := 0
	if n.Source() == FromCNN {
		least = slices.Max(n.options.Widths)
	}
	return n.alphabet.Spell(words, least)
}

// Source is the name of the network.
func (n *network) Source() Source { return Source(n.Name) }

// Words is V.
func (n *network) Words() int { return n.vocabulary.Len() / n.alphabet.spellings() }

// Dim is N.
func (n *network) Dim() int { return n.options.Dim }

// Truncated is the number of vocabulary words longer than the limit.
func (n *network) Truncated() int { return n.vocabulary.Truncated }

// Parts is how many symbols of a word the alphabet has, besides the marks, which every word has.
func (n *network) Parts(word string) (known int) {
	spelt := n.alphabet.Spell([]string{word, ""}, 0)
	for i := range n.alphabet.spellings() {
		marks := spelt.Word(n.alphabet.spellings() + i)
		for _, symbol := range spelt.Word(i) {
			if symbol >= uint32(n.alphabet.known()) && !slices.Contains(marks, symbol) {
				known++
			}
		}
	}
	return known
}

// Parameters lists the matrices, live.
func (n *network) Parameters() []graph.Parameter { return slices.Clone(n.parameters) }

// Randomize fills the matrices uniformly.
func (n *network) Randomize(seed uint64) {
	for i, m := range n.matrices {
		in := m.Rows
		if m.Bias {
			in--
		}
		limit := cmp.Or(m.Start, math.Sqrt(6/float64(in+m.Columns)))
		values := n.parameters[i].Value.Float32s()
		trainer.Uniform(values[:in*m.Columns], limit, seed, i)
		clear(values[in*m.Columns:])
	}
	if n.start != nil {
		n.goOn()
	}
}

// Rows adds the network for a batch of words to the graph of the parameters. A batch is standardized by the statistics of the last
// run of the whole vocabulary.
func (n *network) Rows(parameters gorgonia.Nodes, batch []uint32, threads int) (*gorgonia.Node, error) {
	rows, err := n.add(&Symbols{n.vocabulary.of(batch), 0, threads}, parameters, batch != nil)
	if err != nil {
		return nil, fmt.Errorf("network %s: %w", n.Name, err)
	}
	return rows, nil
}

func (n *network) add(words *Symbols, parameters gorgonia.Nodes, fixed bool) (rows *gorgonia.Node, err error) {
	defer operation.Recovered("build its graph", &err)
	last := len(n.parameters) - 1
	if len(parameters) != last+1 {
		return nil, fmt.Errorf("%d parameters instead of %d", len(parameters), last+1)
	}
	rows, err = n.Features(n.options, words, parameters[:last])
	want := tensor.Shape{words.words.Len(), n.matrices[last].Rows - 1}
	if err == nil && !rows.Shape().Eq(want) {
		err = fmt.Errorf("its features are %v instead of %v", rows.Shape(), want)
	}
	if each := n.alphabet.spellings(); err == nil && each > 1 {
		rows, err = SumEach(rows, each, words.threads)
	}
	if err == nil && n.statistics != nil {
		rows, err = Standardize(rows, n.statistics, fixed, words.threads)
	}
	if err == nil {
		rows, err = Connect(rows, parameters[last], words.threads)
	}
	return rows, err
}

// Bytes estimates the memory of a graph of Rows. Gorgonia keeps the results of operations for the gradient, which takes as much
// again, and gradients of the parameters. Graphs of one and two words say what a word more takes.
func (n *network) Bytes() (rows, gradient int64) {
	if n.Source() == FromCNN {
		rows, gradient = n.convolutionBytes()
	}
	one := n.results(1)
	results := 4 * int64(one+(n.Words()-1)*(n.results(2)-one))
	layer := n.matrices[len(n.matrices)-1]
	return rows + results, gradient + results + 4*int64(n.values()) + shardBytes(n.Words(), layer.Rows*layer.Columns)
}

// results is the number of values that operations give for so many words; 0 if they fail, which training will say.
func (n *network) results(words int) (values int) {
	nodes := n.inputs(nil)
	if _, err := n.Rows(nodes, make([]uint32, words), 1); err != nil {
		return 0
	}
	for _, node := range nodes[0].Graph().AllNodes() {
		if node.Op() != nil {
			values += node.Shape().TotalSize()
		}
	}
	return values
}

// inputs returns the parameters in a new graph. If used is not nil, those of symbols have only these rows.
func (n *network) inputs(used []uint32) (all gorgonia.Nodes) {
	g := gorgonia.NewGraph()
	for i, p := range n.parameters {
		value := p.Value
		if n.matrices[i].OfSymbols && used != nil {
			columns, of := n.matrices[i].Columns, value.Float32s()
			value = newMatrix(len(used), columns)
			for row, symbol := range used {
				copy(value.Float32s()[row*columns:], of[int(symbol)*columns:][:columns])
			}
		}
		shape := gorgonia.WithShape(value.Shape()...)
		all = append(all, gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithName(p.Name), shape, gorgonia.WithValue(value)))
	}
	return all
}

// Encode writes the vectors of words, any strings, to dst, len(words) x Dim. Once Rows has run on the present parameters, words of
// the vocabulary get the same vectors.
func (n *network) Encode(words []string, dst []float32) error {
	err := checkEncode(words, dst, n.Dim())
	most := max(8*blockRows/n.alphabet.spellings(), 1) // to make a graph takes as long as some hundred words
	for first := 0; first < len(words) && err == nil; first += most {
		some := words[first:min(first+most, len(words))]
		err = n.encode(some, dst[first*n.Dim():][:len(some)*n.Dim()])
	}
	if err != nil {
		return fmt.Errorf("network %s: %w", n.Name, err)
	}
	return nil
}

// encode runs a graph of an alphabet that has only the symbols of the words: few of its rows are needed.
func (n *network) encode(words []string, dst []float32) (err error) {
	defer operation.Recovered("run its graph", &err)
	spelt := n.spell(words)
	nodes := n.inputs(spelt.renumber())
	rows, err := n.add(&Symbols{spelt, encodeTables, 1}, nodes, true)
	if err != nil {
		return err
	}
	machine, err := operation.NewMachine(nodes[0].Graph())
	if err != nil {
		return err
	}
	if err := machine.RunAll(); err != nil {
		return err
	}
	copy(dst, rows.Value().(*tensor.Dense).Float32s())
	if n.offset != nil {
		for i := range dst {
			dst[i] += n.offset[i%n.Dim()]
		}
	}
	return machine.Close()
}

func (n *network) values() (values int) {
	for _, p := range n.parameters {
		values += p.Value.Shape().TotalSize()
	}
	return values
}

// each calls do with the parts of the file: statistics and parameters.
func (n *network) each(do func(name string, values []float32, shape ...int)) {
	if s := n.statistics; s != nil {
		do("moments.mean", s.Mean, len(s.Mean))
		do("moments.scale", s.Scale, len(s.Scale))
	}
	for _, p := range n.parameters {
		do(p.Name, p.Value.Float32s(), p.Value.Shape()...)
	}
}

func (n *network) save(d *description, f *fileWriter) {
	d.Kind, d.Network = n.Source(), &n.options
	f.bytes("alphabet", []byte(strings.Join(n.alphabet.symbols, "\n")))
	n.each(f.floats)
}

// FileBytes is about the size of the file that Save writes.
func (n *network) FileBytes() int64 { return fileOverhead + 4*int64(n.values()) }

// ListBytes estimates the memory of the symbols of each word, and of the alphabet.
func (n *network) ListBytes() int64 { return n.vocabulary.bytes() + n.alphabet.bytes() }

func (f fileReader) network(name string, o NetworkOptions) (Composer, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	alphabet, err := f.alphabet(o.Spelling)
	if err != nil {
		return nil, err
	}
	n, err := makeNetwork(name, alphabet, o, f.holds)
	if err != nil {
		return nil, fmt.Errorf("network %q: %w", name, err)
	}
	n.each(func(name string, values []float32, _ ...int) { err = cmp.Or(err, f.floats(name, values)) })
	if err != nil {
		return nil, err
	}
	return n, f.shift(&n.shift, o.Dim)
}
