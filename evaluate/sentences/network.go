package sentences

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/w2vcl/w2vcl/internal/operation"
	"github.com/w2vcl/w2vcl/internal/team"
	"github.com/w2vcl/w2vcl/optim"
)

// The network's size and its training.
const (
	filters    = 32 // of each width; Kim has 100
	batchSize  = 50
	dropout    = 0.5
	learnRate  = 1e-3
	mostEpochs = 15
)

// widths are the numbers of words that filters look at.
var widths = []int{3, 4, 5}

// A network is the graph, its parameters and its inputs.
type network struct {
	vectors      []float32
	dim, classes int
	batch        int

	convolutions []*convolution
	recurrent    *recurrent   // in place of convolutions, or nil
	features     int          // F, values of a sentence before the last layer
	parameters   []*parameter // filters by width or those of the LSTM, then the layer (F+1, classes)

	mask   *tensor.Dense // (B, F), 0 or 1/(1-dropout)
	labels *tensor.Dense // (B, classes), 1 at the class; all 0: no sentence
	ones   *tensor.Dense // (B, 1), carries the bias of the layer

	vm     gorgonia.VM
	loss   *gorgonia.Node
	random *rand.Rand
	steps  int
}

// A parameter is a matrix that is learned.
type parameter struct {
	dense     *tensor.Dense
	gradient  *gorgonia.Node
	optimizer optim.Optimizer
}

// newNetwork returns what all networks have, for batches of a size.
func newNetwork(c *networkOptions, batch, features int) *network {
	return &network{
		vectors: c.Vectors, dim: c.Dim, classes: c.Classes, batch: batch, features: features,
		random: rand.New(rand.NewPCG(c.Seed, 0)),
		mask:   zeros(batch, features), labels: zeros(batch, c.Classes), ones: zeros(batch, 1),
	}
}

// newConvolutional builds the graph of a CNN for batches of a size.
func newConvolutional(c *networkOptions, batch int) (n *network, err error) {
	defer operation.Recovered("build the network", &err)
	n = newNetwork(c, batch, len(widths)*filters)
	workers := team.New(c.Threads)
	for _, width := range widths {
		layer := &convolution{width: width, team: workers, places: c.Places}
		n.convolutions = append(n.convolutions, layer)
		if err := n.addParameter(filters, layer.size(c.Dim), math.Sqrt(2/float64(width*c.Dim))); err != nil {
			return nil, err
		}
	}
	return n, n.finish()
}

// finish adds the last layer and builds the graph.
func (n *network) finish() error {
	if err := n.addParameter(n.features+1, n.classes, math.Sqrt(1/float64(n.features))); err != nil {
		return err
	}
	return n.build()
}

func zeros(rows, columns int) *tensor.Dense {
	return tensor.New(tensor.WithShape(rows, columns), tensor.Of(tensor.Float32))
}

// addParameter adds a matrix of normal random numbers.
func (n *network) addParameter(rows, columns int, deviation float64) error {
	p := &parameter{dense: zeros(rows, columns)}
	values := p.dense.Float32s()
	for i := range values {
		values[i] = float32(deviation * n.random.NormFloat64())
	}
	var err error
	p.optimizer, err = optim.New(optim.Options{Method: optim.Adam}, rows, columns)
	n.parameters = append(n.parameters, p)
	return err
}

// build makes the graph:
//
//	hidden = ReLU(filters) ∘ mask              (B, F), or the last state of the LSTM ∘ mask
//	logits = (hidden, 1) · layer               (B, classes)
//	loss   = -Σ labels ∘ log softmax(logits)
func (n *network) build() error {
	g := gorgonia.NewGraph()
	var learned gorgonia.Nodes
	for i, p := range n.parameters {
		learned = append(learned, matrix(g, fmt.Sprintf("parameter %d", i), p.dense))
	}
	b := builder{}
	var hidden *gorgonia.Node
	if n.recurrent != nil {
		hidden = n.recurrent.apply(&b, g, learned)
	} else {
		hidden = n.filtered(&b, learned)
	}
	hidden = b.node(gorgonia.HadamardProd(hidden, matrix(g, "mask", n.mask)))
	hidden = b.node(gorgonia.Concat(1, hidden, matrix(g, "ones", n.ones)))
	logits := b.node(gorgonia.Mul(hidden, learned[len(learned)-1]))
	logs := b.node(gorgonia.Log(b.node(gorgonia.SoftMax(logits))))
	n.loss = b.node(gorgonia.Neg(b.node(gorgonia.Sum(b.node(gorgonia.HadamardProd(matrix(g, "labels", n.labels), logs))))))
	if b.err != nil {
		return fmt.Errorf("cannot build the network: %w", b.err)
	}
	gradients, err := gorgonia.Grad(n.loss, learned...)
	if err != nil {
		return fmt.Errorf("cannot differentiate the network: %w", err)
	}
	for i, p := range n.parameters {
		p.gradient = gradients[i]
	}
	n.vm, err = operation.NewMachine(g)
	return err
}

// filtered adds the convolutions: ReLU(filters), (B, 3F).
func (n *network) filtered(b *builder, learned gorgonia.Nodes) *gorgonia.Node {
	var parts gorgonia.Nodes
	for i, c := range n.convolutions {
		parts = append(parts, b.node(c.apply(learned[i], n.batch)))
	}
	return b.node(gorgonia.Rectify(b.node(gorgonia.Concat(1, parts...))))
}

// A builder keeps the first error of building nodes.
type builder struct{ err error }

func (b *builder) node(n *gorgonia.Node, err error) *gorgonia.Node {
	if b.err == nil {
		b.err = err
	}
	if n == nil { // a node that will not be used
		n = new(gorgonia.Node)
	}
	return n
}

// matrix adds a named input node whose value is the tensor itself.
func matrix(g *gorgonia.ExprGraph, name string, t *tensor.Dense) *gorgonia.Node {
	return gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithName(name), gorgonia.WithShape(t.Shape()...), gorgonia.WithValue(t))
}

// train learns from one batch, up to n.batch sentences, and returns the sum of
// their losses.
func (n *network) train(sentences []sentence) (loss float64, err error) {
	if err := n.gradients(sentences, true); err != nil {
		return 0, err
	}
	n.steps++
	for i, p := range n.parameters {
		p.optimizer.Begin(n.steps, learnRate)
		gradient, ok := p.gradient.Value().(*tensor.Dense)
		if !ok {
			return 0, fmt.Errorf("parameter %d has no gradient", i)
		}
		w, g, columns := p.dense.Float32s(), gradient.Float32s(), p.dense.Shape()[1]
		scale := 1 / float32(len(sentences))
		for k := range g {
			g[k] *= scale
		}
		for row := range p.dense.Shape()[0] {
			p.optimizer.UpdateRow(row, w[row*columns:][:columns], g[row*columns:][:columns])
		}
	}
	return n.lossValue()
}

func (n *network) lossValue() (float64, error) {
	loss, ok := n.loss.Value().Data().(float32)
	if !ok || math.IsNaN(float64(loss)) || math.IsInf(float64(loss), 0) {
		return 0, fmt.Errorf("the loss became %v", n.loss.Value())
	}
	return float64(loss), nil
}

// gradients runs the graph on a batch.
func (n *network) gradients(sentences []sentence, drop bool) (err error) {
	defer operation.Recovered("train the network", &err)
	padded := make([]sentence, n.batch)
	copy(padded, sentences)
	for _, c := range n.convolutions {
		c.setBatch(padded, n.vectors, n.dim)
	}
	if n.recurrent != nil {
		n.recurrent.setBatch(padded, n.vectors, n.dim)
	}
	labels, mask, ones := n.labels.Float32s(), n.mask.Float32s(), n.ones.Float32s()
	clear(labels)
	for i := range ones {
		ones[i] = 1
	}
	for i, s := range sentences {
		labels[i*n.classes+s.Class] = 1
	}
	for i := range mask {
		mask[i] = 1
		if drop {
			mask[i] = 0
			if n.random.Float64() >= dropout {
				mask[i] = 1 / (1 - dropout)
			}
		}
	}
	n.vm.Reset()
	return n.vm.RunAll()
}

// predict returns the classes that the network finds most likely, without the
// graph, as it learns nothing.
func (n *network) predict(sentences []sentence) ([]int, error) {
	var found []int
	for first := 0; first < len(sentences); first += n.batch {
		batch := sentences[first:min(first+n.batch, len(sentences))]
		logits, err := n.logits(batch)
		if err != nil {
			return nil, err
		}
		for i := range batch {
			best, row := 0, logits[i*n.classes:(i+1)*n.classes]
			for k, x := range row {
				if x > row[best] {
					best = k
				}
			}
			found = append(found, best)
		}
	}
	return found, nil
}

// logits returns (len(sentences), classes).
func (n *network) logits(sentences []sentence) ([]float32, error) {
	layer := n.parameters[len(n.parameters)-1].dense.Float32s()
	logits := make([]float32, len(sentences)*n.classes)
	for i := range sentences {
		copy(logits[i*n.classes:(i+1)*n.classes], layer[n.features*n.classes:])
	}
	if n.recurrent != nil {
		return logits, n.recurrent.addLogits(logits, sentences, n)
	}
	for w, c := range n.convolutions {
		c.setBatch(sentences, n.vectors, n.dim)
		if err := c.run(n.parameters[w].dense.Float32s(), filters); err != nil {
			return nil, err
		}
		out := c.out.Float32s()
		for i := range sentences {
			for f, x := range out[i*filters : (i+1)*filters] {
				for k := range n.classes {
					logits[i*n.classes+k] += max(x, 0) * layer[(w*filters+f)*n.classes+k]
				}
			}
		}
	}
	return logits, nil
}

func (n *network) close() error { return n.vm.Close() }
