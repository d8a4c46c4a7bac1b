package runfolder

import (
	"context"
	"io"
	"os"
	"slices"

	"github.com/w2vcl/w2vcl/embedding/fasttext"
	"github.com/w2vcl/w2vcl/internal/atomicfile"
	"github.com/w2vcl/w2vcl/sequential"
	"github.com/w2vcl/w2vcl/train/settings"
)

// SaveFastText writes vectors as a fastText model, with the
// n-grams of their encoder if fastText has such; withNGrams tells. The words have the
// vectors of v, which are W + X·C if the run exports that. from is where v was loaded: of
// a run folder the model has counts, settings and, if v has all its words, the context
// vectors as output matrix.
func SaveFastText(ctx context.Context, path string, v *Vectors, from string) (withNGrams bool, err error) {
	o := fasttext.Output{Words: v.Words, Dim: v.Dim, Vectors: v.Table.Vectors}
	if e, ok := v.Encoder.(interface {
		Shape() fasttext.Shape
		NGram(bucket uint32, dst []float32)
	}); ok {
		o.Shape, o.NGram, withNGrams = e.Shape(), e.NGram, true
	}
	if info, err := os.Stat(from); err != nil || info.IsDir() { // otherwise it is a file of vectors
		if err := addRun(ctx, &o, from); err != nil {
			return false, err
		}
	}
	return withNGrams, atomicfile.Write(path, func(w io.Writer) error { return fasttext.Write(w, o) })
}

// addRun adds what a run folder says of its words.
func addRun(ctx context.Context, o *fasttext.Output, from string) error {
	r, err := Open(from)
	if err != nil {
		return err
	}
	c, err := r.Config()
	if err != nil {
		return err
	}
	o.CBOW = c.Model == string(sequential.CBOW) || c.FindMode().Family == settings.Stretches
	o.Window, o.Epochs, o.Negatives, o.MinCount, o.Sample = c.Window, c.Epochs, c.Negative, c.MinCount, c.Sample
	vocabulary, err := r.Vocabulary(ctx)
	if err != nil {
		return err
	}
	o.Counts = make([]uint64, len(o.Words))
	for i, word := range o.Words {
		if id, ok := vocabulary.ID(word); ok {
			o.Counts[i] = vocabulary.Counts[id]
		}
	}
	if !slices.Equal(vocabulary.Words, o.Words) {
		return nil
	}
	t, err := r.Tables(ctx)
	o.Contexts = t.Contexts
	return err
}
