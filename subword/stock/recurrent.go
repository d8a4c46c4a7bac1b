package stock

import "gorgonia.org/gorgonia"

// Recurrent is Elman's network: a state reads the symbols of a word, and its last value becomes the vector.
//
//	symbols: (A, H)  state: (H, H)  out: (H, N)
//	h = tanh(symbols[s] + h state) for each symbol s of the word, from zero on
//	vector = h out
const Recurrent = "recurrent"

func recurrentShapes(o Options, symbols int) []shape {
	return []shape{{"symbols", symbols, o.Hidden}, {"state", o.Hidden, o.Hidden}, {"out", o.Hidden, o.Dim}}
}

// Before a word begins its state stays zero, so words of all lengths end together.
func recurrent(w *words) *gorgonia.Node {
	h := tanh(w.rowsOf("symbols", w.longest-1))
	for place := w.longest - 2; place >= 0; place-- {
		h = tanh(add(w.rowsOf("symbols", place), product(h, w.parameters["state"])))
	}
	return product(h, w.parameters["out"])
}
