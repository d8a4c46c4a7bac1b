package device

import (
	"github.com/w2vcl/w2vcl/kernels/cuda/sentence"
	"github.com/w2vcl/w2vcl/sequential"
)

// sequentialModes are the kernels of the sentence-ordered algorithms that have some.
var sequentialModes = map[sequential.Algorithm]sentence.Mode{
	sequential.Word2Vec:     sentence.Word2Vec,
	sequential.PWord2Vec:    sentence.PWord2Vec,
	sequential.FullW2V:      sentence.FullW2V,
	sequential.FullRegister: sentence.FullRegister,
	sequential.PARW2V:       sentence.PARW2V,
}

// modeOf returns the kernels that train with the options, if there are any.
func modeOf(c sequential.Options) (m sentence.Mode, ok bool) {
	m, ok = sequentialModes[c.Algorithm]
	switch {
	case c.Model == sequential.CBOW:
		m = sentence.CBOW
	case m == sentence.FullW2V && c.PairByPair:
		m = sentence.FullW2VPairs
	}
	return m, ok
}

// HasKernels reports whether a sentence-ordered algorithm can be trained on a
// device.
func HasKernels(a sequential.Algorithm) bool { return sequentialModes[a] != "" }

// CheckSequential returns why the kernels cannot train a sentence-ordered
// algorithm with its options, an UnsupportedError, or nil.
func CheckSequential(c sequential.Options, p Precision) error {
	m, ok := modeOf(c)
	if !ok {
		return unsupported("mode", c.Algorithm, "GPUs have no kernels for it")
	}
	if c.Composition != nil && !ComposesOn(c.Algorithm) {
		return unsupported("mode", c.Algorithm, "on GPUs it does not train composed vectors")
	}
	if err := checkShared(c.Dim, p); err != nil {
		return err
	}
	most, half := windowLimits(m, false), windowLimits(m, true)
	switch {
	case c.Composition != nil && p.Rounds():
		return unsupported("precision", p, "composed vectors have %s only on GPUs", Float32)
	case c.Negatives > most.Negatives:
		return unsupported("negative", c.Negatives, "on GPUs mode %s takes at most %d", c.Algorithm, most.Negatives)
	case c.Window > most.Window:
		return unsupported("window", c.Window, "on GPUs mode %s takes at most %d", c.Algorithm, most.Window)
	case m == sentence.PARW2V && c.Batch > maxBatch(c.Dim):
		return unsupported("batch", c.Batch, "on GPUs mode %s takes at most %d with vectors of %d dimensions", c.Algorithm, maxBatch(c.Dim), c.Dim)
	case p.Rounds() && m == sentence.FullW2VPairs:
		return unsupported("precision", p, "on GPUs mode %s has %s only with --together=false", c.Algorithm, Float32)
	case p == HalfTables && !m.HalvesWords():
		return errSentences(p)
	case p.Rounds() && half.Negatives == 0:
		return unsupported("precision", p, "on GPUs mode %s has %s only", c.Algorithm, Float32)
	case c.HierarchicalSoftmax:
		return unsupported("hierarchical-softmax", c.HierarchicalSoftmax, "GPUs have no kernels for it")
	case p.Rounds() && (c.Negatives > half.Negatives || c.Window > half.Window):
		return unsupported("precision", p, "mode %s takes up to %d negatives and a window of up to %d with it", c.Algorithm, half.Negatives, half.Window)
	}
	return nil
}

// maxBatch returns the largest batch of PAR-Word2Vec: its rows and their changes lie in the
// shared memory of a thread block, of which the largest GPUs of today have 227 KB. In others
// it may be less, which New of package kernels/cuda/sentence tells.
func maxBatch(dim int) int {
	const memory, values = 216 << 10, 128 // beside what else the kernels keep there; of a part of a row
	return memory / (2 * 4 * ((dim + values - 1) / values * values)) / 8 * 8
}

// WindowLimits are the largest --negative and --window that kernels take.
type WindowLimits struct{ Negatives, Window int }

func windowLimits(m sentence.Mode, half bool) WindowLimits {
	most := sentence.LimitsOf(m, half)
	if m.Dynamic() {
		return WindowLimits{most.Negatives, most.Radius}
	}
	return WindowLimits{most.Negatives, 2 * most.Radius}
}
