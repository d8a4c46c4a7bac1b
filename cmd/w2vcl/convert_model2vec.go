package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/w2vcl/w2vcl/cmd/internal/cli"
	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/train/runfolder"
)

// saveModel2Vec writes a folder of Model2Vec, which splits texts as the run's text was split. from
// is where the vectors were loaded.
func saveModel2Vec(s cli.Streams, to string, t *embedding.Table, from string) error {
	var m embedding.Model2VecModel
	origin := "Converted from " + filepath.Base(from) + "."
	if info, err := os.Stat(from); err != nil || info.IsDir() { // otherwise it is a file of vectors
		r, err := runfolder.Open(from)
		if err != nil {
			return err
		}
		c, err := r.Config()
		if err != nil {
			return err
		}
		options, err := c.TextOptions()
		if err != nil {
			return err
		}
		m.Words, m.Lowercase = options.Tokenizer == corpus.Words, c.Lowercase
		origin = fmt.Sprintf("Trained by w2vcl, mode %s, seed %d.", c.Mode, c.Seed)
		if summary, ok, err := r.Summary(); err == nil && ok {
			origin = fmt.Sprintf("Trained by w2vcl, mode %s, seed %d, on a text of %s words: %s epochs.",
				c.Mode, c.Seed, terminal.Number(summary.Tokens), fmt.Sprintf("%.3g", summary.Epochs))
		}
	} else {
		s.Notef("Note: %s does not say how its text was split: texts are split at white space, with their case", from)
	}
	name := filepath.Base(filepath.Clean(to))
	m.Card = fmt.Sprintf(strings.ReplaceAll(modelCard, "~", "`"), name, terminal.Number(t.Len()), t.Dim, origin, name)
	return embedding.SaveModel2Vec(to, t, m)
}

// modelCard is the page of a model; ~ stands for a grave accent.
const modelCard = `---
library_name: model2vec
tags:
- model2vec
- sentence-transformers
- static-embeddings
- word2vec
---

# %s

Static word vectors: %s words, %d dimensions. %s

A text has the mean of the vectors of its words. A word that is not in the vocabulary has a vector of zeros: Model2Vec leaves
such words out of the mean, and sentence-transformers counts them, so its vector is shorter.

~~~python
from model2vec import StaticModel

model = StaticModel.from_pretrained("%s")
vectors = model.encode(["a sentence", "another one"])
~~~
`
