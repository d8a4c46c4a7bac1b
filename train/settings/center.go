package settings

import "slices"

// center subtracts the mean row of words, (V, N), from each row of rows, (V, N), and returns it. Rows is W + X·C; words is W, or the
// same slice as rows.
//
// All rows of W share a component, which hides the differences between words. Without this component rare words score
// higher (docs/subword.md, "Context vectors").
func center(rows, words []float32, dim int) (mean []float32) {
	sum := make([]float64, dim)
	for row := range slices.Chunk(words, dim) {
		for j, x := range row {
			sum[j] += float64(x)
		}
	}
	for _, x := range sum {
		mean = append(mean, float32(x*float64(dim)/float64(len(words))))
	}
	for row := range slices.Chunk(rows, dim) {
		for j := range row {
			row[j] -= mean[j]
		}
	}
	return mean
}
