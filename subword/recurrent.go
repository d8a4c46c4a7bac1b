package subword

import "gorgonia.org/gorgonia"

// recurrent is Elman's network (1990): a state reads the symbols of a word, one after the other. Its last value is the features of
// the word.
//
//	symbols: (A, E)  state: (E, E)
//	h = tanh(symbols[s] + h state) for each symbol s of the word, from zero on
var recurrent = Network{
	Name:     "recurrent",
	Help:     "a recurrent network over characters",
	Settings: []string{"char-dim"},
	Matrices: recurrentMatrices,
	Features: recurrentFeatures,
}

// The parameters act again at each symbol, so they want lower rates than those of a CNN.
const recurrentRate = 0.2

func recurrentMatrices(o NetworkOptions, symbols int) ([]Matrix, int, error) {
	return []Matrix{
		{Name: "symbols", Rows: symbols, Columns: o.CharDim, Start: 0.5, Rate: recurrentRate, OfSymbols: true},
		{Name: "state", Rows: o.CharDim, Columns: o.CharDim, Rate: recurrentRate},
	}, o.CharDim, nil
}

// Before a word begins, its state stays zero: there are no biases.
func recurrentFeatures(_ NetworkOptions, words *Symbols, p gorgonia.Nodes) (*gorgonia.Node, error) {
	symbols, state := p[0], p[1]
	h := gorgonia.Must(gorgonia.Tanh(words.At(0, symbols))) // (B, E)
	for place := 1; place < words.Len(); place++ {
		before := gorgonia.Must(gorgonia.Mul(h, state))
		h = gorgonia.Must(gorgonia.Tanh(gorgonia.Must(gorgonia.Add(words.At(place, symbols), before))))
	}
	return h, nil
}
