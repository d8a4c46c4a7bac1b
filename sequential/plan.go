package sequential

import (
	"github.com/w2vcl/w2vcl/kernels/composed"
	"github.com/w2vcl/w2vcl/train/trainer"
)

// Plan asks an account for what New takes for a vocabulary of so many words and a text of so many
// tokens, with the noise but without the text.
func Plan(a *trainer.Account, words, tokens int, c Options) error {
	c.Account = a
	c, err := c.withDefaults()
	if err != nil {
		return err
	}
	d, err := Find(c.Algorithm)
	if err != nil {
		return err
	}
	allocate(words, d.unit(tokens, &c), &d, &c)
	return c.Account.Err()
}

// allocate returns W, and C or the nodes of the tree with the threads' copies of their first rows
// behind them; contexts is C if that is not in outputs. It takes what the tree, the threads and the
// encoder allocate themselves in units of so many tokens.
func allocate(v, unit int, d *Descriptor, c *Options) (words, contexts, outputs []float32) {
	a, threads, copied := c.Account, int64(c.Threads), copiedWords(v, unit, c)
	words, outputs = a.Floats(trainer.ForTables, v*c.Dim), a.Floats(trainer.ForTables, (v+c.Threads*copied)*c.Dim)
	if c.HierarchicalSoftmax {
		contexts = a.Floats(trainer.ForTables, v*c.Dim)
		a.Take(trainer.ForWork, memoryTree(v))
	}
	x := c.Composition
	if x != nil {
		a.Take(trainer.ForTables, 4*int64(len(x.Parts)+len(x.Own)))
	}
	if c.Idle {
		return words, contexts, outputs
	}
	a.Take(trainer.ForWork, (4+8)*int64(v)) // thresholds, and the alias table of the noise
	a.Take(trainer.ForWork, threads*(4*int64(copied*(c.Dim+1))+d.wordBytes*int64(v)+d.spanBytes*int64(min(c.Span, unit/c.Threads+1))))
	if x != nil {
		a.Take(trainer.ForWork, threads*(composed.BlockBytes(x, min(c.Block, unit))+12*int64(min(c.Block, unit))))
	}
	return words, contexts, outputs
}
