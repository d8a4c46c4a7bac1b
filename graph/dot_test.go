package graph

import (
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/optim"
)

// The picture of an iteration names its nodes.
func TestDOT(t *testing.T) {
	r := freshRandom(t)
	c := smallCorpus(t, r, 20, 50)
	stretches := func(change func(*Options)) *CBOW {
		o := testOptions(4, 2, 1, optim.Adam)
		o.SharedNegatives = 3
		change(&o)
		return newCBOW(t, newStretches(t, c, 50, 3, 1), 5, o)
	}
	matrix := func(change func(*Options)) *CL {
		o := testOptions(4, 5, 1, optim.Adam)
		change(&o)
		return newCL(t, buildMatrix(t, c, 4), 5, o)
	}
	ownRows := func(*Options) {}
	parts := func(o *Options) { o.Composition = randomParts(r, 20, 4, true) }
	network := func(o *Options) { o.Encoder = newNetEncoder(r, 20, 4) }
	for _, x := range []struct {
		trainer interface{ DOT() string }
		nodes   string
	}{
		{stretches(parts), `iteration and learning rate, words, parts, contexts, compose words:, windows:, ` +
			`step 1, update contexts:, step 2: loss, gradient of windows:, update words: adam, update parts:`},
		{stretches(ownRows), `words, windows:, step 1, update contexts:, step 2: loss, gradient of windows:, update words: adam`},
		{stretches(network), `letters, tanh, windows:, step 2: loss, gradient of windows:, update letters: adam`},
		{matrix(ownRows), `samples of step 1, samples of step 2, step 1, update words: loss, step 2, update contexts: loss`},
		{matrix(parts), `samples of step 1, compose words:, step 1: loss, gradient of step 1:, ` +
			`step 2, update contexts: loss, update words: adam, update parts:`},
		{matrix(network), `samples of step 2, letters, tanh, step 1: loss, step 2, update contexts: loss, update letters: adam`},
	} {
		dot := x.trainer.DOT()
		for _, name := range strings.Split(x.nodes, ", ") {
			if !strings.Contains(dot, name) {
				t.Errorf("the graph lacks %q:\n%s", name, dot)
			}
		}
	}
}
