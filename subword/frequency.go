package subword

import "math"

// frequencies are the logarithms of how often words occur, less their mean. Vectors of rare words differ from those of frequent
// ones whatever the spelling, roughly in a straight line of the logarithm. Unseen words get what the line says of words that
// occur once.
type frequencies struct {
	logs    []float32 // of the count of each word, less the mean
	mean    float64
	squares float64 // the sum of the squares of logs, and the ridge
}

// slopeRidge times the number of words is the ridge of the line's slope. Texts have a hundred times as much in squares. Where
// words occur about equally often, the ridge makes the line level, instead of one that says anything of a word that occurs once.
const slopeRidge = 0.01

// newFrequencies takes a word that does not occur as one that occurs once.
func newFrequencies(counts []uint64) *frequencies {
	f := &frequencies{logs: make([]float32, len(counts)), squares: slopeRidge * float64(len(counts))}
	for _, count := range counts {
		f.mean += math.Log(float64(max(count, 1))) / float64(len(counts))
	}
	for v, count := range counts {
		x := math.Log(float64(max(count, 1))) - f.mean
		f.logs[v] = float32(x)
		f.squares += x * x
	}
	return f
}

// line returns the line nearest in squares to a value of each word, by the sum of the values and of their products with logs:
// value v is about mean + slope · logs[v], and once for a word that occurs once.
func (f *frequencies) line(sum, products float64) (mean, slope, once float64) {
	mean, slope = sum/float64(len(f.logs)), products/f.squares
	return mean, slope, mean - slope*f.mean
}
