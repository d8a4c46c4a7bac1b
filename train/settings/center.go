package settings

import (
	"runtime"
	"slices"

	"github.com/w2vcl/w2vcl/internal/parallel"
)

// center subtracts the mean row of words, (V, N), from each row of rows, (V, N), and returns it. Rows is W + X·C; words is W, or the
// same slice as rows.
//
// All rows of W share a component, which hides the differences between words. Without this component rare words score
// higher (docs/subword.md, "Context vectors").
func center(rows, words []float32, dim int) (mean []float32) {
	const columns = 16
	mean = make([]float32, dim)
	parallel.Ranges(runtime.GOMAXPROCS(0), dim, columns, func(first, end int) {
		var sum [columns]float64
		for row := range slices.Chunk(words, dim) {
			for j, x := range row[first:end] {
				sum[j] += float64(x)
			}
		}
		for j := range mean[first:end] {
			mean[first+j] = float32(sum[j] * float64(dim) / float64(len(words)))
		}
		for row := range slices.Chunk(rows, dim) {
			for j := first; j < end; j++ {
				row[j] -= mean[j]
			}
		}
	})
	return mean
}
