package stock

import "gorgonia.org/gorgonia"

// Attention is a mean of a word's symbols, each with a weight that follows from itself and its place.
//
//	symbols: (A, H)  places: (L, H), counted from the word's end  query: (H, 1)  out: (H, N)
//	e = tanh(symbols[s] + places[t]) for each symbol s of the word, at place t
//	vector = (sum of exp(e query) e / sum of exp(e query)) out
const Attention = "attention"

func attentionShapes(o Options, symbols int) []shape {
	return []shape{{"symbols", symbols, o.Hidden}, {"places", o.Spelling.Limit, o.Hidden}, {"query", o.Hidden, 1}, {"out", o.Hidden, o.Dim}}
}

func attention(w *words) *gorgonia.Node {
	var sum, total *gorgonia.Node // (B, H), (B, 1)
	across := w.constant("ones", 1, w.options.Hidden, func(int) float32 { return 1 })
	for place := range w.longest {
		has := w.has(place) // (B, 1)
		at := product(w.constant("place", 1, w.options.Spelling.Limit, func(i int) float32 {
			if i == place {
				return 1
			}
			return 0
		}), w.parameters["places"])
		e := tanh(add(w.rowsOf("symbols", place), product(has, at)))
		weight := times(has, exp(product(e, w.parameters["query"])))
		part := times(product(weight, across), e)
		if place == 0 {
			sum, total = part, weight
		} else {
			sum, total = add(sum, part), add(total, weight)
		}
	}
	return product(over(sum, product(total, across)), w.parameters["out"])
}
