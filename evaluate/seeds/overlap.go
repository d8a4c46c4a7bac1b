package seeds

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/evaluate"
	"github.com/w2vcl/w2vcl/internal/memory"
)

// The words that are compared, and by what.
const (
	// Neighbors is how many nearest neighbours of a word are compared.
	Neighbors = 10
	// Bands is the number of parts of the vocabulary, by frequency, as in the charts of losses.
	Bands = 5
	// WordsPerBand is how many words of a band are compared at most. They lie at equal
	// distances in the vocabulary, so that the result has no chance in it.
	WordsPerBand = 1000
)

// A Stability says how far runs agree on the nearest neighbours of words. The overlap of
// two runs at a word is the fraction of its [Neighbors] nearest neighbours that both have.
// That of a word is the mean over all pairs of runs, and that of a band the mean over its words.
type Stability struct {
	Runs      int `json:"runs"`
	Words     int `json:"words"`     // that all runs have; neighbours are sought among them
	Neighbors int `json:"neighbors"` // of a word

	// All is over the words of all bands. Its interval holds the mean with a probability of
	// 95% if the words are a sample of the vocabulary; Least and Most are those of pairs of runs.
	All         Overlap        `json:"all"`
	LeastOfRuns evaluate.Score `json:"least_of_runs"`
	MostOfRuns  evaluate.Score `json:"most_of_runs"`
	Bands       []Overlap      `json:"bands"` // the most frequent words first
}

// An Overlap is the mean overlap of some words.
type Overlap struct {
	First    int               `json:"first"`    // rank of the most frequent word of the band, from 1
	Last     int               `json:"last"`     // likewise the rarest
	Compared int               `json:"compared"` // of these words
	Overlap  evaluate.Interval `json:"overlap"`  // mean ± 1.96 standard errors over the words
}

// Compare compares the neighbours of words in the tables of two or more runs. Ranks are those
// of the first table, whose words usually come by falling frequency, among the words of all tables. load returns the
// table of a run, counted from 0, and is called twice for each, so that one table is in memory at a time.
func Compare(ctx context.Context, runs int, load func(run int) (*embedding.Table, error)) (*Stability, error) {
	return compare(ctx, runs, load, WordsPerBand)
}

func compare(ctx context.Context, runs int, load func(run int) (*embedding.Table, error), perBand int) (*Stability, error) {
	if runs < 2 {
		return nil, errors.New("stability needs two runs or more")
	}
	words, err := commonWords(runs, load)
	if err != nil {
		return nil, err
	}
	if len(words) <= Neighbors {
		return nil, fmt.Errorf("the runs have %d words in common: %d or more are needed to compare %d neighbours: %w",
			len(words), Neighbors+1, Neighbors, ErrFewWords)
	}
	bands, rows := sample(len(words), perBand)
	found := make([][][]int, runs) // rows of the neighbours, by run and word
	for i := range found {
		t, err := load(i)
		if err != nil {
			return nil, err
		}
		if found[i], err = neighborsOf(ctx, t, words, rows); err != nil {
			return nil, err
		}
	}
	s := &Stability{Runs: runs, Words: len(words), Neighbors: Neighbors}
	ofWords := s.overlaps(found)
	s.All = overlapOf(1, len(words), ofWords)
	first := 0
	for _, b := range bands {
		s.Bands = append(s.Bands, overlapOf(b.First, b.Last, ofWords[first:first+b.Compared]))
		first += b.Compared
	}
	return s, nil
}

// ErrFewWords says that runs have too few words in common.
var ErrFewWords = errors.New("too few words")

// commonWords lists the words that all tables have, in the order of the first.
func commonWords(runs int, load func(run int) (*embedding.Table, error)) ([]string, error) {
	var words []string
	for i := range runs {
		t, err := load(i)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			words = slices.Clone(t.Words)
			continue
		}
		words = slices.DeleteFunc(words, func(word string) bool {
			_, ok := t.Index(word)
			return !ok
		})
	}
	return words, nil
}

// sample cuts n words into bands of the same size and returns the rows to compare.
func sample(n, perBand int) (bands []Overlap, rows []int) {
	count := min(Bands, n)
	for b := range count {
		first, last := b*n/count, (b+1)*n/count
		size := last - first
		compared := min(size, perBand)
		for i := range compared {
			rows = append(rows, first+i*size/compared)
		}
		bands = append(bands, Overlap{First: first + 1, Last: last, Compared: compared})
	}
	return bands, rows
}

// neighborsOf returns the nearest neighbours of some of the words, as numbers of words.
func neighborsOf(ctx context.Context, t *embedding.Table, words []string, rows []int) ([][]int, error) {
	common, err := restrict(t, words)
	if err != nil {
		return nil, err
	}
	nearest, err := common.NearestWords(ctx, rows, Neighbors)
	if err != nil {
		return nil, err
	}
	numbers := make([][]int, len(rows))
	for i, answer := range nearest {
		for _, n := range answer {
			numbers[i] = append(numbers[i], n.Row)
		}
	}
	return numbers, nil
}

// restrict returns the table of some of its words, in that order.
func restrict(t *embedding.Table, words []string) (*embedding.Table, error) {
	if slices.Equal(words, t.Words) {
		return t, nil
	}
	done, err := memory.Room(int64(len(words)) * int64(t.Dim) * 4)
	if err != nil {
		return nil, fmt.Errorf("the vectors of %d words: %w", len(words), err)
	}
	defer done()
	vectors := make([]float32, 0, len(words)*t.Dim)
	for _, word := range words {
		row, _ := t.Index(word)
		vectors = append(vectors, t.Vector(row)...)
	}
	return embedding.NewTable(words, t.Dim, vectors)
}

// overlaps returns the overlap of each word, and sets the least and the most of pairs of runs.
func (s *Stability) overlaps(found [][][]int) []float64 {
	ofWords := make([]float64, len(found[0]))
	pairs := float64(len(found) * (len(found) - 1) / 2)
	least, most := math.Inf(1), math.Inf(-1)
	for i := range found {
		for k := range i {
			sum := 0.0
			for w := range ofWords {
				overlap := shared(found[i][w], found[k][w])
				ofWords[w] += overlap / pairs
				sum += overlap
			}
			mean := sum / float64(len(ofWords))
			least, most = min(least, mean), max(most, mean)
		}
	}
	s.LeastOfRuns, s.MostOfRuns = evaluate.Score(least), evaluate.Score(most)
	return ofWords
}

// shared returns the fraction of the numbers in a that b has, too.
func shared(a, b []int) float64 {
	in := map[int]bool{}
	for _, x := range b {
		in[x] = true
	}
	both := 0
	for _, x := range a {
		if in[x] {
			both++
		}
	}
	return float64(both) / float64(len(a))
}

// normal95 is the 97.5% quantile of the normal distribution.
const normal95 = 1.959963984540054

func overlapOf(first, last int, ofWords []float64) Overlap {
	mean, deviation := stat.MeanStdDev(ofWords, nil)
	half := normal95 * deviation / math.Sqrt(float64(len(ofWords))) // NaN for one word
	return Overlap{
		First: first, Last: last, Compared: len(ofWords),
		Overlap: evaluate.Interval{
			Value: evaluate.Score(mean), Low: evaluate.Score(max(mean-half, 0)), High: evaluate.Score(min(mean+half, 1)),
		},
	}
}

// A Spread is a number over the seeds: its mean and the standard deviation between the
// seeds, both with intervals that hold the true value with a probability of 95% if the
// number is normally distributed.
type Spread struct {
	Mean      evaluate.Interval `json:"mean"`      // by Student's t
	Deviation evaluate.Interval `json:"deviation"` // by χ²
}

// SpreadOf returns the spread of one number of each run. A number that is missing, NaN, is
// left out; where one or none is left, intervals and deviation are missing. The deviation has an interval from five values on: that of
// fewer says next to nothing.
func SpreadOf(values []float64) Spread {
	known := make([]float64, 0, len(values))
	for _, v := range values {
		if !math.IsNaN(v) {
			known = append(known, v)
		}
	}
	mean, deviation := stat.MeanStdDev(known, nil)
	s := Spread{
		evaluate.Interval{Value: evaluate.Score(mean), Low: evaluate.NoScore, High: evaluate.NoScore},
		evaluate.Interval{Value: evaluate.Score(deviation), Low: evaluate.NoScore, High: evaluate.NoScore},
	}
	if len(known) < 2 {
		return s
	}
	freedom := float64(len(known) - 1)
	half := distuv.StudentsT{Sigma: 1, Nu: freedom}.Quantile(0.975) * deviation / math.Sqrt(freedom+1)
	s.Mean.Low, s.Mean.High = evaluate.Score(mean-half), evaluate.Score(mean+half)
	if len(known) < 5 {
		return s
	}
	chi := distuv.ChiSquared{K: freedom}
	s.Deviation.Low = evaluate.Score(deviation * math.Sqrt(freedom/chi.Quantile(0.975)))
	s.Deviation.High = evaluate.Score(deviation * math.Sqrt(freedom/chi.Quantile(0.025)))
	return s
}
