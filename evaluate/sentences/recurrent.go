package sentences

import (
	"fmt"
	"math"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/operation"
	"github.com/w2vcl/w2vcl/internal/team"
	"github.com/w2vcl/w2vcl/kernels/simd"
)

const (
	units     = 100 // H, of the LSTM, as in PAR-Word2Vec, section VI-C1
	mostWords = 200 // T at most: the last words of a text that are read
	gates     = 4   // input, forget, output, candidate
)

// A recurrent is an LSTM over texts, in stock operations of Gorgonia. For words t = 1 ... T
//
//	i, f, o = σ(x_t·X + h·R)        of each gate: X (N+1, H), R (H, H)
//	g       = tanh(x_t·X + h·R)
//	c       = f ∘ c + i ∘ g
//	h       = o ∘ tanh(c)
//
// x_t is the vector of a word and a 1, which carries the bias; zero for an unknown word but
// for the 1. Texts are filled up with zeros in front, which leave c and h zero.
type recurrent struct {
	team  *team.Team
	steps int             // T
	words []*tensor.Dense // x_t, (B, N+1) each
	start *tensor.Dense   // h and c before the first word, (B, H) zeros
}

// longestOf is the number of words of the longest sentence, at least 1.
func longestOf(parts ...[]sentence) int {
	longest := 1
	for _, part := range parts {
		for _, s := range part {
			longest = max(longest, len(s.Words))
		}
	}
	return longest
}

// newRecurrent builds the graph of an LSTM for batches of a size and texts of so many words.
func newRecurrent(c *networkOptions, batch, steps int) (n *network, err error) {
	defer operation.Recovered("build the network", &err)
	n = newNetwork(c, batch, units)
	n.recurrent = &recurrent{team: team.New(c.Threads), steps: steps, start: zeros(batch, units)}
	for range steps {
		n.recurrent.words = append(n.recurrent.words, zeros(batch, c.Dim+1))
	}
	for range gates {
		if err := n.addParameter(c.Dim+1, units, math.Sqrt(1/float64(c.Dim))); err != nil {
			return nil, err
		}
		clear(n.parameters[len(n.parameters)-1].dense.Float32s()[c.Dim*units:])
		if err := n.addParameter(units, units, math.Sqrt(1/float64(units))); err != nil {
			return nil, err
		}
	}
	forget := n.parameters[2].dense.Float32s()[c.Dim*units:] // its biases
	for i := range forget {
		forget[i] = 1 // remember at first
	}
	return n, n.finish()
}

// apply adds the LSTM to the graph of its parameters, X and R of each gate, and returns the last
// h, (B, H).
func (r *recurrent) apply(b *builder, g *gorgonia.ExprGraph, learned gorgonia.Nodes) *gorgonia.Node {
	h, c := matrix(g, "h", r.start), matrix(g, "c", r.start)
	for t, dense := range r.words {
		x := matrix(g, fmt.Sprintf("word %d", t), dense)
		var sums [gates]*gorgonia.Node
		for k := range sums {
			sums[k] = b.node(gorgonia.Add(b.node(gorgonia.Mul(x, learned[2*k])), b.node(gorgonia.Mul(h, learned[2*k+1]))))
		}
		input := b.node(gorgonia.Sigmoid(sums[0]))
		forget := b.node(gorgonia.Sigmoid(sums[1]))
		output := b.node(gorgonia.Sigmoid(sums[2]))
		kept := b.node(gorgonia.HadamardProd(forget, c))
		taken := b.node(gorgonia.HadamardProd(input, b.node(gorgonia.Tanh(sums[3]))))
		c = b.node(gorgonia.Add(kept, taken))
		h = b.node(gorgonia.HadamardProd(output, b.node(gorgonia.Tanh(c))))
	}
	return h
}

// last returns the words of a text that are read.
func (r *recurrent) last(s sentence) []int32 { return s.Words[max(len(s.Words)-r.steps, 0):] }

// setBatch puts the words of texts in place.
func (r *recurrent) setBatch(sentences []sentence, vectors []float32, dim int) {
	for _, dense := range r.words {
		clear(dense.Float32s())
	}
	for i, s := range sentences {
		words := r.last(s)
		for t, row := range words {
			x := r.words[r.steps-len(words)+t].Float32s()[i*(dim+1):][:dim+1]
			if row >= 0 {
				copy(x, vectors[int(row)*dim:][:dim])
			}
			x[dim] = 1
		}
	}
}

// addLogits adds the last layer's products with the last h of each text, without the graph, as
// nothing is learned.
func (r *recurrent) addLogits(logits []float32, sentences []sentence, n *network) error {
	layer := n.parameters[len(n.parameters)-1].dense.Float32s()
	inputs, states := memory.Sequence[uint32](n.dim+1), memory.Sequence[uint32](units)
	return r.team.Do(len(sentences), func(_, i int) {
		var sums [gates][units]float32
		var fed [units]float32
		h, c, x := make([]float32, units), make([]float32, units), make([]float32, n.dim+1)
		x[n.dim] = 1
		for _, row := range r.last(sentences[i]) {
			clear(x[:n.dim])
			if row >= 0 {
				copy(x, n.vectors[int(row)*n.dim:][:n.dim])
			}
			for k := range sums {
				simd.Combine(sums[k][:], x, n.parameters[2*k].dense.Float32s(), inputs)
				simd.Combine(fed[:], h, n.parameters[2*k+1].dense.Float32s(), states)
				for j, v := range fed {
					sums[k][j] += v
				}
			}
			for j := range h {
				c[j] = sigmoid(sums[1][j])*c[j] + sigmoid(sums[0][j])*tanh(sums[3][j])
				h[j] = sigmoid(sums[2][j]) * tanh(c[j])
			}
		}
		for j, value := range h {
			for k := range n.classes {
				logits[i*n.classes+k] += value * layer[j*n.classes+k]
			}
		}
	})
}

func sigmoid(x float32) float32 { return float32(1 / (1 + math.Exp(-float64(x)))) }
func tanh(x float32) float32    { return float32(math.Tanh(float64(x))) }
