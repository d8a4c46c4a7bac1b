package devicetest

import (
	"cmp"
	"fmt"

	"github.com/w2vcl/w2vcl/graph"
	kernels "github.com/w2vcl/w2vcl/kernels/cuda/subword"
	"github.com/w2vcl/w2vcl/subword"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// An encoder composes rows by the operations of package subword, as the kernels are told.
type encoder struct {
	kernels.Structure
	dim        int
	vocabulary *subword.Spellings
	parameters []graph.Parameter
}

// newEncoder returns the encoder that has a structure.
func newEncoder(c kernels.Structure, dim int) graph.Encoder {
	e := &encoder{Structure: c, dim: dim, vocabulary: subword.NewSpellings(c.Starts, c.Symbols)}
	rate := 1.
	add := func(name string, rows, columns int) {
		value := tensor.New(tensor.WithShape(rows, columns), tensor.Of(tensor.Float32))
		e.parameters = append(e.parameters, graph.Parameter{Name: name, Value: value, Rate: c.Rate * rate})
	}
	add("symbols", c.Alphabet, c.CharDim)
	for i, w := range c.Widths {
		rate = c.LayerRate(w * c.CharDim)
		add(fmt.Sprintf("filters%d.width%d", i, w), w*c.CharDim+1, c.Filters[i])
	}
	rate = c.LayerRate(c.Features())
	add("weights", c.Features()+1, dim)
	if c.Words {
		return subword.WithWords(e)
	}
	return e
}

func (e *encoder) Words() int                       { return e.vocabulary.Len() / e.Each() }
func (e *encoder) Dim() int                         { return e.dim }
func (e *encoder) Parameters() []graph.Parameter    { return e.parameters }
func (e *encoder) Randomize(uint64)                 {}
func (e *encoder) Bytes() (rows, gradient int64)    { return 0, 0 }
func (e *encoder) Encode([]string, []float32) error { return fmt.Errorf("an encoder of no strings") }
func (e *encoder) Parts(string) int                 { return 0 }
func (e *encoder) Source() subword.Source           { return "none" }
func (e *encoder) Truncated() int                   { return 0 }
func (e *encoder) FileBytes() int64                 { return 0 }
func (e *encoder) ListBytes() int64                 { return 0 }

// Rows adds the rows of all words to the graph of the parameters.
func (e *encoder) Rows(parameters gorgonia.Nodes, _ []uint32, threads int) (*gorgonia.Node, error) {
	o := subword.Convolution{Widths: e.Widths, Activation: subword.Activation(cmp.Or(e.Activation, kernels.Activations[0]))}
	last := len(parameters) - 1
	rows, err := subword.Convolve(e.vocabulary, parameters[0], parameters[1:last], o, threads)
	if each := e.Each(); err == nil && each > 1 {
		rows, err = subword.SumEach(rows, each, threads)
	}
	if err == nil && !e.Raw {
		d := e.Features()
		rows, err = subword.Standardize(rows, &subword.Statistics{Mean: make([]float32, d), Scale: make([]float32, d)}, false, threads)
	}
	if err != nil {
		return nil, err
	}
	return subword.Connect(rows, parameters[last], threads)
}
