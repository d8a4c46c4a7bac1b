package composed

import "slices"

// Center subtracts the mean of the rows of W, (V, N), from rows of the same shape, W + X·C, which may be W itself.
//
// Negatives push rows of W away from those of C, so all rows of either have a direction in common, one the opposite of the
// other's. Parts make that of W a long one, for they learn it from all their words. In the sum the two cancel where X is
// about a half: then words that have no C, the unseen ones, lie apart from all others. Without the mean of W they do not,
// and similarities are better (benchmarks/tried/earlier.md).
func Center(rows, words []float32, dim int) {
	mean := make([]float64, dim)
	for row := range slices.Chunk(words, dim) {
		for j, x := range row {
			mean[j] += float64(x)
		}
	}
	for row := range slices.Chunk(rows, dim) {
		for j := range row {
			row[j] -= float32(mean[j] * float64(dim) / float64(len(words)))
		}
	}
}
