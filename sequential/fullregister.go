package sequential

// FullRegister names FULL-Register.
const FullRegister Algorithm = "fullregister"

var fullRegisterDescriptor = Descriptor{
	Name: FullRegister, Help: "fixed windows; reads context rows once a window, the published kernel once an output",
	Recipe:      fullW2VDescriptor.Recipe,
	FixedWindow: true, Composes: true,
	create: func(m *model) algorithm { return newFullRegister(m) },
}

// fullRegister is FULL-Register (FULL-W2V, section 3.1), the first of that paper's two kernels:
// FULL-W2V without the ring buffer. Every window reads the rows of its context words once and writes
// them back; the published kernel reads a row for each of the window's outputs. With one thread it trains the vectors that FULL-W2V trains; with several, fewer
// changes meet.
//
//	for each word t of the sentence:
//		draw negatives n_1 ... n_K
//		as pWord2Vec, with the context words t-W_f ... t+W_f
type fullRegister struct {
	*model
	radius        int // W_f
	kinds, inputs []uint32
}

func newFullRegister(m *model) *fullRegister {
	m.drawAtMost(m.Negatives)
	radius := Radius(m.Window)
	return &fullRegister{model: m, radius: radius, kinds: firstPositive(2*radius, 1+m.Negatives)}
}

func (f *fullRegister) train(s *sentence) {
	f.drawOutputs(s)
	for t := range s.words {
		f.fetchInput(s, t+ahead+f.radius)
		f.inputs = append(f.inputs[:0], s.inputs[max(t-f.radius, 0):t]...)
		f.inputs = append(f.inputs, s.inputs[t+1:min(t+f.radius+1, len(s.words))]...)
		f.step(f.words, f.inputs, f.outputsOf(t), f.kinds, f.outputsOf(t+ahead))
	}
}
