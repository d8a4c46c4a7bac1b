package wordmap

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/evaluate/learn"
	"github.com/w2vcl/w2vcl/internal/memory"
)

// Options say how a map is made. The zero value is good for some thousand words.
type Options struct {
	Perplexity float64 // see tsneOptions; 0 is 30, or less for few words
	Iterations int
	Seed       uint64
	Near       float32 // words whose nearest other word has a smaller cosine are left out; 0: none
	Progress   func(done, total int)
}

// A Map is a set of words with their places.
type Map struct {
	Title string
	Words []string // the most frequent first, if the table is so

	Places []Place // from 0 to 1 on the longer side
	Group  []int   // of near places; below [Groups]
}

// Groups is how many groups, which are colours, a map has at the most.
const Groups = 9

// MaxWords is how many words a map may have: a picture has no room for more.
const MaxWords = 5000

// New places the words of a table. Errors: fewer than two words, or more than
// [MaxWords], that are near enough to another one; options out of their range; a
// cancelled context.
func New(ctx context.Context, t *embedding.Table, o Options) (*Map, error) {
	t, near, err := neighbors(ctx, t, o)
	if err != nil {
		return nil, err
	}
	n := t.Len()
	o.Perplexity = cmp.Or(o.Perplexity, max(2, min(30, float64(n-1)/4)))
	m := &Map{Words: t.Words}
	wanted := neighborCount(o.Perplexity, n)
	lists := make([][]neighbor, n)
	for i, list := range near {
		for _, x := range list[:min(len(list), wanted)] {
			// Of rows of length 1: |a-b|² = 2 - 2cos.
			lists[i] = append(lists[i], neighbor{Point: x.Row, Distance: max(0, 2-2*float64(x.Cosine))})
		}
	}
	m.Places, err = tsne(ctx, lists, pca(t.Normalized(), t.Dim), tsneOptions{
		Perplexity: o.Perplexity, Iterations: o.Iterations, Seed: o.Seed, Progress: o.Progress,
	})
	if err != nil {
		return nil, err
	}
	scale(m.Places)
	return m, m.group(ctx, o.Seed)
}

// neighbors finds the neighbours of every word, as many as t-SNE wants, and leaves out words that have none near enough.
func neighbors(ctx context.Context, t *embedding.Table, o Options) (*embedding.Table, [][]embedding.Neighbor, error) {
	for {
		if t.Len() < 2 || t.Len() > MaxWords {
			return nil, nil, fmt.Errorf("a map needs from 2 to %d words, and there are %d", MaxWords, t.Len())
		}
		near, err := t.NearestWords(ctx, memory.Sequence[int](t.Len()), neighborCount(o.Perplexity, t.Len()))
		if err != nil {
			return nil, nil, err
		}
		var kept []int
		for i, list := range near {
			if o.Near <= 0 || list[0].Cosine >= o.Near {
				kept = append(kept, i)
			}
		}
		if len(kept) == t.Len() {
			return t, near, nil
		}
		if len(kept) < 2 {
			return nil, nil, errors.New("no two words are that similar: lower the least similarity")
		}
		if t, err = subset(t, kept); err != nil {
			return nil, nil, err
		}
	}
}

func subset(t *embedding.Table, rows []int) (*embedding.Table, error) {
	var words []string
	var vectors []float32
	for _, row := range rows {
		words = append(words, t.Words[row])
		vectors = append(vectors, t.Vector(row)...)
	}
	return embedding.NewTable(words, t.Dim, vectors)
}

// scale moves places into a rectangle from 0, whose longer side is 1.
func scale(places []Place) {
	low, high := places[0], places[0]
	for _, p := range places {
		low = Place{X: min(low.X, p.X), Y: min(low.Y, p.Y)}
		high = Place{X: max(high.X, p.X), Y: max(high.Y, p.Y)}
	}
	side := math.Max(max(high.X-low.X, high.Y-low.Y), 1e-300)
	for i, p := range places {
		places[i] = Place{X: (p.X - low.X) / side, Y: (p.Y - low.Y) / side}
	}
}

// group gives near places the same number.
func (m *Map) group(ctx context.Context, seed uint64) (err error) {
	points := make([][]float64, len(m.Places))
	for i, p := range m.Places {
		points[i] = []float64{p.X, p.Y}
	}
	m.Group, err = learn.KMeans(ctx, points, min(Groups, len(points)), seed)
	return err
}

// A Place is a point of the plane.
type Place struct{ X, Y float64 }

func (p Place) finite() bool {
	return !math.IsNaN(p.X+p.Y) && !math.IsInf(p.X+p.Y, 0)
}

// pca projects n points of the given dimension, one after the other, on the two directions in which they vary most.
func pca(points []float32, dim int) []Place {
	n := len(points) / dim
	places := make([]Place, n)
	if n == 0 {
		return places
	}
	values := make([]float64, len(points))
	for i, x := range points {
		values[i] = float64(x)
	}
	rows := mat.NewDense(n, dim, values)
	var components stat.PC
	if !components.PrincipalComponents(rows, nil) {
		return places
	}
	var directions, projected mat.Dense
	components.VectorsTo(&directions)
	projected.Mul(rows, &directions)
	_, found := projected.Dims() // a single point or dimension has one direction
	for i := range places {
		places[i].X = projected.At(i, 0)
		if found > 1 {
			places[i].Y = projected.At(i, 1)
		}
	}
	return places
}
