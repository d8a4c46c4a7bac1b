package sequential

import (
	"math/bits"
	"slices"

	"github.com/w2vcl/w2vcl/kernels/simd"
)

// FullW2V names FULL-W2V.
const FullW2V Algorithm = "fullw2v"

var fullW2VDescriptor = Descriptor{
	Name: FullW2V, Help: "fixed windows in strict order",
	// With flatter negatives and W + C, after 20 epochs all of five sets of
	// scores are better (benchmarks/tried/earlier.md).
	Recipe:      Recipe{NoiseExponent: 0.5, ContextWeight: 1},
	FixedWindow: true, Composes: true,
	create: func(m *model) algorithm { return newFullW2V(m) },
}

// fullW2V is FULL-W2V on a CPU, the reference of the CUDA kernels. Windows have
// the fixed width W_f = ceil(W/2) on either side, the mean of word2vec's dynamic
// windows, and are trained in strict order: a window takes its context rows as
// the window before left them (section 3.1). Negatives are shared in a window.
//
// Context rows live in a ring buffer from the window they enter to the window
// they leave (section 3.2). Then their changes are added to the row, which keeps those of
// other threads. The changes of the first word and of the last ones are added, too, which
// the published code forgets. A word that enters again while it is in the ring shares its
// slot: its row is there once.
//
//	for each word t of the sentence:
//		word t+W_f enters, word t-W_f-1 leaves
//		draw negatives n_1 ... n_K
//		as pWord2Vec, with the context words t-W_f ... t+W_f in the ring; or pair by pair
type fullW2V struct {
	*model
	radius int // W_f
	kinds  []uint32
	inputs []uint32 // slots of the ring

	ring    []float32 // (2 W_f + 2, N)
	entered []float32 // the same rows as they entered; nil: leaving, they replace those of W
	slots   []slot
	slot    []uint32 // by the last bits of the place: where the word's row is

	// Pair by pair:
	rows, before []float32 // (1+K, N): of the outputs, and as they were before the window
	old          []float32 // an input before its pair
}

// A slot of the ring holds a word's row while any place in the window has it.
type slot struct {
	word   uint32
	places int // in the window; 0: free
}

func newFullW2V(m *model) *fullW2V {
	m.drawAtMost(m.Negatives)
	radius := Radius(m.Window)
	size := 2*radius + 2
	f := &fullW2V{
		model: m, radius: radius, kinds: firstPositive(2*radius, 1+m.Negatives),
		ring: make([]float32, size*m.Dim), slots: make([]slot, size), slot: make([]uint32, 1<<bits.Len(uint(size))),
	}
	if m.Threads > 1 { // one thread has all changes of the row itself
		f.entered = make([]float32, size*m.Dim)
	}
	if m.PairByPair {
		values := (1 + m.Negatives) * m.Dim
		f.rows, f.before, f.old = make([]float32, values), make([]float32, values), make([]float32, m.Dim)
		f.scores, f.coefficients = make([]float32, 1), make([]float32, 1)
	}
	return f
}

// Radius returns W_f = ceil(W/2), the words on either side of the target in the
// fixed windows of FULL-W2V.
func Radius(window int) int { return (window + 1) / 2 }

func (f *fullW2V) train(s *sentence) {
	f.drawOutputs(s)
	last := len(s.words) - 1
	for i := range min(f.radius, len(s.words)) {
		f.enter(s, i)
	}
	for t := range s.words {
		f.fetchInput(s, t+ahead+f.radius)
		if t+f.radius <= last {
			f.enter(s, t+f.radius)
		}
		if t-f.radius-1 >= 0 {
			f.leave(t - f.radius - 1)
		}
		f.inputs = f.inputs[:0]
		for i := max(t-f.radius, 0); i <= min(t+f.radius, last); i++ {
			if i != t {
				f.inputs = append(f.inputs, f.slot[i&(len(f.slot)-1)])
			}
		}
		if f.PairByPair {
			f.pairByPair(f.outputsOf(t))
		} else {
			f.step(f.ring, f.inputs, f.outputsOf(t), f.kinds, f.outputsOf(t+ahead))
		}
	}
	for i := max(last-f.radius, 0); i <= last; i++ {
		f.leave(i)
	}
}

// pairByPair trains the window of the inputs in the order of the published code: the target
// and then each negative meet the context words one after the other, and each pair changes
// both of its rows before the next. A word that is a context word twice meets an output once,
// with a step for both. Of an output that is drawn twice there are two rows meanwhile.
func (f *fullW2V) pairByPair(outputs []uint32) {
	rows := func(k int) (row, now, before []float32) {
		return f.contexts[int(outputs[k])*f.Dim:][:f.Dim], f.rows[k*f.Dim:][:f.Dim], f.before[k*f.Dim:][:f.Dim]
	}
	for k := range outputs {
		row, now, before := rows(k)
		copy(now, row)
		copy(before, row)
	}
	for k := range outputs {
		for i, input := range f.inputs {
			if !slices.Contains(f.inputs[:i], input) {
				f.pair(input, k)
			}
		}
	}
	for k := range outputs {
		simd.Exchange(rows(k))
	}
	f.copies.used(outputs)
}

// pair trains an input with output number k.
func (f *fullW2V) pair(input uint32, k int) {
	left, right := f.ring[int(input)*f.Dim:][:f.Dim], f.rows[k*f.Dim:][:f.Dim]
	score, coefficient, step := f.scores[:1], f.coefficients[:1], float32(0)
	score[0] = simd.Dot(left, right)
	for _, other := range f.inputs {
		if other == input {
			simd.Gradients(coefficient, score, f.kinds[k:k+1], -f.rate, &f.loss)
			step += coefficient[0]
			f.pairs++
		}
	}
	copy(f.old, left)
	simd.AddScaled(left, right, step)
	simd.AddScaled(right, f.old, step)
}

// enter brings word i of the sentence into the ring.
func (f *fullW2V) enter(s *sentence, i int) {
	word := s.inputs[i] // its row of W
	free := 0
	for n := range f.slots {
		switch {
		case f.slots[n].places == 0:
			free = n
		case f.slots[n].word == word:
			f.slots[n].places++
			f.slot[i&(len(f.slot)-1)] = uint32(n)
			return
		}
	}
	f.slots[free] = slot{word, 1}
	f.slot[i&(len(f.slot)-1)] = uint32(free)
	copy(f.ring[free*f.Dim:][:f.Dim], f.words[int(word)*f.Dim:])
	if f.entered != nil {
		copy(f.entered[free*f.Dim:][:f.Dim], f.ring[free*f.Dim:])
	}
}

// leave takes word i of the sentence out of the ring. Its row goes back to W
// with the last place that has it.
func (f *fullW2V) leave(i int) {
	n := int(f.slot[i&(len(f.slot)-1)])
	f.slots[n].places--
	if f.slots[n].places > 0 {
		return
	}
	row, left := f.words[int(f.slots[n].word)*f.Dim:][:f.Dim], f.ring[n*f.Dim:][:f.Dim]
	if f.entered == nil {
		copy(row, left)
		return
	}
	simd.Exchange(row, left, f.entered[n*f.Dim:][:f.Dim])
}
