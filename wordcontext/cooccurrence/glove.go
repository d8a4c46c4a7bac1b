package cooccurrence

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/internal/parallel"
	"github.com/w2vcl/w2vcl/kernels/simd"
	"github.com/w2vcl/w2vcl/train/trainer"
)

// GloVeOptions says how GloVe is trained.
type GloVeOptions struct {
	Dim     int     // N
	XMax    float64 // counts from here on weigh 1
	Epochs  int
	Seed    uint64
	Threads int

	Account *trainer.Account // gives the memory; may be nil
}

// power is α of Pennington et al. 2014, equation 9: a count x below XMax weighs
// (x/XMax)^α.
const power = 0.75

// group is how many entries of a row share an update.
const group = 16

// A GloVe fits w·c + b_w + b_c to the logarithm of the counts (Pennington et al. 2014,
// equation 8) by AdaGrad. An epoch has two steps, as in W2V-CL: the first changes W while C
// rests, the second C while W rests. Rows of one table are independent then, so threads take
// rows, and the result does not depend on them.
//
// It implements trainer.Trainer; a unit is an epoch.
type GloVe struct {
	options GloVeOptions
	counts  *Matrix
	entries [][]entry // of each row
	sides   [2]side   // words, contexts
}

// An entry is what training needs of a count.
type entry struct{ log, weight float32 }

// A side is a table that is trained, with what AdaGrad knows of it.
type side struct {
	vectors, squares        []float32 // (V, N); sums of squared gradients
	curvatures              []float32 // V: what an entry of weight 1 adds to the other side's curvature; see measure
	biases, squaresOfBiases []float32 // V
}

// NewGloVe returns a trainer on a matrix of counts, which it keeps.
func NewGloVe(counts *Matrix, o GloVeOptions) (*GloVe, error) {
	if o.Dim < 1 || o.Threads < 1 || o.Epochs < 1 || !(o.XMax > 0) {
		return nil, errors.New("cooccurrence: dimension, threads, epochs and x-max must be above 0")
	}
	rows := counts.Rows()
	g, entries := allocateGloVe(rows, counts.Entries(), o)
	if err := o.Account.Err(); err != nil {
		return nil, err
	}
	g.counts = counts
	for i := range rows {
		_, values := counts.Row(i)
		g.entries[i], entries = entries[:len(values):len(values)], entries[len(values):]
	}
	// Without a context to cancel there is no error.
	_ = parallel.Do(context.Background(), o.Threads, rows, func(i int) {
		_, values := counts.Row(i)
		for k, x := range values {
			weight := math.Pow(min(float64(x)/o.XMax, 1), power)
			g.entries[i][k] = entry{log: float32(math.Log(float64(x))), weight: float32(weight)}
		}
	})
	g.Reset()
	return g, nil
}

// PlanGloVe asks an account for what NewGloVe takes, beside its matrix of so many rows and entries.
func PlanGloVe(a *trainer.Account, rows int, entries int64, o GloVeOptions) {
	o.Account = a
	allocateGloVe(rows, entries, o)
}

// allocateGloVe is NewGloVe without the counts. It also returns the entries of all rows.
func allocateGloVe(rows int, count int64, o GloVeOptions) (*GloVe, []entry) {
	a := o.Account
	g := &GloVe{options: o, entries: trainer.Of[[]entry](a, trainer.ForWork, rows)}
	for i := range g.sides {
		g.sides[i] = side{
			vectors: a.Floats(trainer.ForTables, rows*o.Dim), squares: a.Floats(trainer.ForMoments, rows*o.Dim),
			curvatures: a.Floats(trainer.ForWork, rows),
			biases:     a.Floats(trainer.ForWork, rows), squaresOfBiases: a.Floats(trainer.ForWork, rows),
		}
	}
	return g, trainer.Of[entry](a, trainer.ForWork, int(count))
}

// Units implements trainer.Trainer.
func (g *GloVe) Units() int { return g.options.Epochs }

// Advance implements trainer.Trainer. The loss is that of equation 8, halved as GloVe's
// program reports it, over the entries of both steps.
func (g *GloVe) Advance(ctx context.Context, unit int, rate float64) (trainer.Report, error) {
	report := trainer.Report{Pairs: float64(2 * g.counts.Entries())}
	for i := range g.sides {
		stream := corpus.StreamEntries.Sub(uint32(2*unit + i))
		loss, err := g.step(ctx, &g.sides[i], &g.sides[1-i], stream, rate)
		if err != nil {
			return trainer.Report{}, err
		}
		report.Loss += loss
	}
	return report, nil
}

// Tables implements trainer.Trainer.
func (g *GloVe) Tables() (words, contexts []float32) { return g.sides[0].vectors, g.sides[1].vectors }

// State implements trainer.Trainer.
func (g *GloVe) State() []trainer.Tensor {
	var state []trainer.Tensor
	for i, name := range []string{"words", "contexts"} {
		s := &g.sides[i]
		state = append(state,
			trainer.Tensor{Name: name, Data: s.vectors}, trainer.Tensor{Name: name + ".squares", Data: s.squares},
			trainer.Tensor{Name: name + ".biases", Data: s.biases}, trainer.Tensor{Name: name + ".biases.squares", Data: s.squaresOfBiases})
	}
	return state
}

// Reset implements trainer.Trainer.
func (g *GloVe) Reset() {
	for i := range g.sides {
		s := &g.sides[i]
		// The two tables must differ, or they would stay the same.
		trainer.Randomize(s.vectors, g.options.Dim, g.options.Seed+uint64(i)<<32)
		clear(s.biases)
		for _, squares := range [][]float32{s.squares, s.squaresOfBiases} {
			for k := range squares {
				squares[k] = 1
			}
		}
	}
}

// Close implements trainer.Trainer.
func (g *GloVe) Close() error { return nil }

// step trains one side while the other rests.
func (g *GloVe) step(ctx context.Context, s, rests *side, stream corpus.Stream, rate float64) (loss float64, err error) {
	const rowsOfTask = 64
	losses := make([]float64, (g.counts.Rows()+rowsOfTask-1)/rowsOfTask)
	rests.measure(g.options.Dim)
	steps := make([]gloveStep, g.options.Threads)
	err = parallel.Try(ctx, g.options.Threads, len(losses), func(worker, task int) error {
		step := &steps[worker]
		if step.gradient == nil {
			*step = gloveStep{
				side: s, rests: rests, dim: g.options.Dim, rate: float32(rate),
				seed: g.options.Seed, stream: stream, gradient: make([]float32, g.options.Dim),
			}
		}
		for i := task * rowsOfTask; i < min((task+1)*rowsOfTask, g.counts.Rows()); i++ {
			contexts, _ := g.counts.Row(i)
			losses[task] += step.row(i, contexts, g.entries[i])
		}
		return nil
	})
	for _, l := range losses {
		loss += l
	}
	return loss, err
}

// measure computes the curvature of the loss in the direction of each row and its bias: |v|² + 1.
func (s *side) measure(dim int) {
	for i := range s.curvatures {
		row := s.vectors[i*dim:][:dim]
		s.curvatures[i] = simd.Dot(row, row) + 1
	}
}

// A gloveStep updates rows of a side.
type gloveStep struct {
	side, rests *side
	dim         int
	rate        float32
	seed        uint64
	stream      corpus.Stream
	gradient    []float32
	order       []uint32 // of the entries of a row
	contexts    [group]uint32
	entries     [group]entry
	errors      [group]float32 // of the entries, weighted
}

// row trains on the entries of a row, group after group, in a random order, another one for each
// epoch. GloVe's own program shuffles all entries; in the order of their frequency, or where always
// the same entries share a group, vectors of rare words are worse.
func (s *gloveStep) row(i int, contexts []uint32, entries []entry) (loss float64) {
	s.order = shuffled(s.order[:0], s.seed, s.stream, i, len(contexts))
	for some := range slices.Chunk(s.order, group) {
		for k, at := range some {
			s.contexts[k], s.entries[k] = contexts[at], entries[at]
		}
		loss += s.update(i, len(some))
	}
	return loss
}

// shuffled appends the numbers below n to order, in the random order of a row.
func shuffled(order []uint32, seed uint64, stream corpus.Stream, row, n int) []uint32 {
	var bits [4]uint32
	for k := range n {
		if k%len(bits) == 0 {
			bits = corpus.Philox(seed, stream, uint64(row)<<32|uint64(k/len(bits)))
		}
		at := corpus.Below(bits[k%len(bits)], uint32(k+1))
		order = append(order, uint32(k))
		order[k], order[at] = order[at], uint32(k)
	}
	return order
}

// update takes one step down the gradient of a group of entries.
func (s *gloveStep) update(i, size int) (loss float64) {
	row := s.side.vectors[i*s.dim:][:s.dim]
	contexts, errors := s.contexts[:size], s.errors[:size]
	simd.Dots(errors, row, s.rests.vectors, contexts)
	bias, curvature := float32(0), float32(0)
	for k, context := range contexts {
		e := &s.entries[k]
		curvature += e.weight * s.rests.curvatures[context]
		off := errors[k] + s.side.biases[i] + s.rests.biases[context] - e.log
		loss += 0.5 * float64(e.weight*off*off)
		errors[k] = s.rate * e.weight * off
		bias += errors[k]
	}
	// GloVe's own program steps once for each entry. A step for all must not go further than twice
	// the way to their minimum, or the next one goes further still.
	if most := 2 / (s.rate * curvature); most < 1 {
		for k := range errors {
			errors[k] *= most
		}
		bias *= most
	}
	simd.Combine(s.gradient, errors, s.rests.vectors, contexts)
	squares := s.side.squares[i*s.dim:][:s.dim]
	for k, g := range s.gradient {
		row[k] -= g / float32(math.Sqrt(float64(squares[k])))
		squares[k] += g * g
	}
	s.side.biases[i] -= bias / float32(math.Sqrt(float64(s.side.squaresOfBiases[i])))
	s.side.squaresOfBiases[i] += bias * bias
	return loss
}
