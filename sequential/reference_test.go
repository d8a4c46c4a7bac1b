package sequential

import (
	"math"
	"slices"

	"github.com/w2vcl/w2vcl/corpus"
)

// A reference trains one sentence as the papers have it, in float64, pair by
// pair, without the package's own code.
type reference struct {
	Options
	rounding
	text            *corpus.Corpus
	noise           *corpus.Alias
	words, contexts []float64 // W and C
	rate            float64

	oldWords, oldContexts []float64 // before a step, where it reads them

	// With hierarchical softmax contexts are the nodes.
	codes    []byte     // of the last outputs
	paths    [][]uint32 // of all words
	allCodes [][]byte

	sentence []uint32 // after subsampling
	places   []int    // of its words in the text
	first    int      // of the sentence's tokens
}

// A rounding adds numbers of so many bits, as float32 does those of 24; with zero bits it adds exactly.
type rounding struct{ digits int }

func (r rounding) add(to *float64, x float64) {
	*to += x
	if r.digits > 0 {
		unit := uint64(1) << (53 - r.digits)
		*to = math.Float64frombits((math.Float64bits(*to) + unit/2) &^ (unit - 1))
	}
}

// bits are random number i of a stream in epoch 0.
func (r *reference) bits(stream corpus.Stream, i int) uint32 {
	return corpus.Philox(r.Seed, stream, uint64(i)/4)[i%4]
}

func (r *reference) read(number int) {
	keep := corpus.KeepThresholds(r.text.Vocabulary.Counts, r.Sample)
	r.sentence, r.places = nil, nil
	r.first = r.text.Sentences[number]
	for i := r.first; i < r.text.Sentences[number+1]; i++ {
		if w := r.text.Tokens[i]; r.bits(corpus.StreamSubsample, i) <= keep[w] {
			r.sentence, r.places = append(r.sentence, w), append(r.places, i)
		}
	}
}

// dynamic returns the contexts of word t in a window of 1 to W words either side.
func (r *reference) dynamic(t int) []uint32 {
	return r.around(t, 1+int(corpus.Below(r.bits(corpus.StreamWindow, r.places[t]), uint32(r.Window))))
}

func (r *reference) around(t, width int) (contexts []uint32) {
	for i := t - width; i <= t+width; i++ {
		if i >= 0 && i < len(r.sentence) && i != t {
			contexts = append(contexts, r.sentence[i])
		}
	}
	return contexts
}

// negative is negative number k of the window of word t, of at most most.
func (r *reference) negative(t, k, most int) uint32 {
	j := (r.first+t)*((most+3)/4*4) + k
	n := r.noise.Draw(r.bits(corpus.StreamNegatives, j))
	for a := 0; n == r.sentence[t]; a++ {
		n = r.noise.Draw(corpus.Philox(r.Seed, corpus.StreamRedraws, uint64(j)+uint64(a/4)<<56)[a%4])
	}
	return n
}

// outputs are the target and the negatives from number from on, or the nodes on the path to
// the target.
func (r *reference) outputs(t, from, most int) []uint32 {
	if r.HierarchicalSoftmax {
		if r.paths == nil {
			r.paths, r.allCodes = word2vecTree(r.text.Vocabulary.Counts)
		}
		r.codes = r.allCodes[r.sentence[t]]
		return r.paths[r.sentence[t]]
	}
	out := []uint32{r.sentence[t]}
	for k := range r.Negatives {
		out = append(out, r.negative(t, from+k, most))
	}
	return out
}

// step trains all pairs with the values of before. positive says which output,
// if any, is the target of each input.
func (r *reference) step(inputs, outputs []uint32, positive func(input int) int) {
	r.oldWords, r.oldContexts = keepRows(r.oldWords, r.words, inputs, r.Dim), keepRows(r.oldContexts, r.contexts, outputs, r.Dim)
	words, contexts := r.oldWords, r.oldContexts
	for i, in := range inputs {
		for k, out := range outputs {
			score := 0.0
			for j := range r.Dim {
				r.add(&score, words[int(in)*r.Dim+j]*contexts[int(out)*r.Dim+j])
			}
			label := 0.0
			if r.codes == nil && positive(i) == k || r.codes != nil && r.codes[k] == 0 {
				label = 1
			}
			g := r.rate * (label - 1/(1+math.Exp(-score)))
			for j := range r.Dim {
				r.add(&r.words[int(in)*r.Dim+j], g*contexts[int(out)*r.Dim+j])
				r.add(&r.contexts[int(out)*r.Dim+j], g*words[int(in)*r.Dim+j])
			}
		}
	}
}

// keepRows copies rows of a table to their places in another.
func keepRows(to, table []float64, rows []uint32, dim int) []float64 {
	to = slices.Grow(to[:0], len(table))[:len(table)]
	for _, row := range rows {
		copy(to[int(row)*dim:][:dim], table[int(row)*dim:])
	}
	return to
}

func first(int) int { return 0 }

func fixedWindows(r *reference) {
	for t := range r.sentence {
		r.step(r.around(t, int(math.Ceil(float64(r.Window)/2))), r.outputs(t, 0, r.Negatives), first)
	}
}

// pairByPair trains outputs as rows behind C: one that is drawn twice is there twice.
func pairByPair(r *reference) {
	end, rate := len(r.contexts), r.rate
	for t := range r.sentence {
		inputs, outputs := r.around(t, (r.Window+1)/2), r.outputs(t, 0, r.Negatives)
		for _, o := range outputs {
			r.contexts = append(r.contexts, r.contexts[int(o)*r.Dim:][:r.Dim]...)
		}
		before := slices.Clone(r.contexts[end:])
		for k := range outputs {
			for i, c := range inputs {
				if r.rate = rate * float64(count(inputs, c)); !slices.Contains(inputs[:i], c) {
					r.step([]uint32{c}, []uint32{uint32(end/r.Dim + k)}, func(int) int { return k })
				}
			}
		}
		for i, x := range before {
			r.add(&r.contexts[int(outputs[i/r.Dim])*r.Dim+i%r.Dim], r.contexts[end+i]-x)
		}
		r.contexts, r.rate = r.contexts[:end], rate
	}
}

// references are the algorithms for the sentence that was read.
var references = map[string]func(r *reference){
	"word2vec": func(r *reference) {
		for t := range r.sentence {
			for i, c := range r.dynamic(t) {
				r.step([]uint32{c}, r.outputs(t, i*r.Negatives, 2*r.Window*r.Negatives), first)
			}
		}
	},
	"cbow": func(r *reference) {
		for t := range r.sentence {
			inputs := r.dynamic(t)
			if len(inputs) == 0 {
				continue
			}
			// The mean is trained as an extra word behind the vocabulary.
			mean := len(r.words) / r.Dim
			sum := make([]float64, r.Dim)
			for _, c := range inputs {
				for j := range sum {
					r.add(&sum[j], r.words[int(c)*r.Dim+j]/float64(len(inputs)))
				}
			}
			r.words = append(r.words, sum...)
			r.step([]uint32{uint32(mean)}, r.outputs(t, 0, r.Negatives), first)
			for j := range sum {
				for _, c := range inputs {
					r.add(&r.words[int(c)*r.Dim+j], r.words[mean*r.Dim+j]-sum[j])
				}
			}
			r.words = r.words[:mean*r.Dim]
		}
	},
	"pword2vec": func(r *reference) {
		for t := range r.sentence {
			r.step(r.dynamic(t), r.outputs(t, 0, r.Negatives), first)
		}
	},
	"fullw2v":      fixedWindows,
	"fullregister": fixedWindows,
	"pairbypair":   pairByPair,
	"psgnscc":      func(r *reference) { r.span(r.windows()) },
	"parw2v": func(r *reference) {
		for t := range r.sentence {
			r.step(r.dynamic(t), r.sentence[t:t+1], first)
		}
		last := len(r.sentence) - 1
		for b := 0; b <= last; b += r.Batch {
			j := (r.first + b) * ((1 + 2*r.Window*r.Negatives + 3) / 4 * 4)
			most := 2 * r.Window
			if b < r.Window || last-b < r.Window {
				most = r.Window
			}
			h := r.Negatives * (1 + int(corpus.Below(r.bits(corpus.StreamNegatives, j), uint32(most))))
			var outputs []uint32
			for k := range h {
				outputs = append(outputs, r.noise.Draw(r.bits(corpus.StreamNegatives, j+1+k)))
			}
			for eight := range slices.Chunk(outputs, 8) {
				r.step(r.sentence[b:min(b+r.Batch, last+1)], eight, func(int) int { return -1 })
			}
		}
	},
}

// A window is that of a word, with the outputs that the word would have alone.
type window struct {
	word              uint32
	contexts, outputs []uint32
}

// windows are those of the sentence that was read.
func (r *reference) windows() (all []window) {
	for t, word := range r.sentence {
		all = append(all, window{word, r.dynamic(t), r.outputs(t, 0, r.Negatives)})
	}
	return all
}

// span combines the windows of a span as pSGNScc does.
func (r *reference) span(windows []window) {
	trained := make([]bool, len(windows))
	for t, w := range windows {
		if trained[t] || len(w.contexts) == 0 {
			continue
		}
		var inputs []uint32
		var targets []int
		combined := 0
		add := func(t, o int) {
			trained[t] = true
			combined++
			for _, c := range windows[t].contexts {
				inputs, targets = append(inputs, c), append(targets, o)
			}
		}
		add(t, 0)
		for found := true; found; {
			found = false
			for o, word := range w.outputs {
				for i := t + 1; i < len(windows); i++ {
					if windows[i].word == word && !trained[i] && combined < r.Combine && count(w.outputs, word) == 1 {
						add(i, o)
						found = true
						break
					}
				}
			}
		}
		r.step(inputs, w.outputs, func(i int) int { return targets[i] })
	}
}

func count(words []uint32, word uint32) (n int) {
	for _, w := range words {
		if w == word {
			n++
		}
	}
	return n
}
