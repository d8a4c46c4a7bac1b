package records

import (
	"io"

	"github.com/parquet-go/parquet-go"
)

// A vectorRow is a row of a parquet file of vectors.
type vectorRow struct {
	Word   string    `parquet:"word"`
	Vector []float32 `parquet:"vector,list"`
}

// rowsAtOnce are written together.
const rowsAtOnce = 1 << 10

// WriteVectors writes a parquet file with the columns word and vector, a list of dim float32.
// vectors has them row by row.
func WriteVectors(w io.Writer, words []string, dim int, vectors []float32) error {
	out := parquet.NewGenericWriter[vectorRow](w, parquet.Compression(&parquet.Zstd), parquet.MaxRowsPerRowGroup(64*rowsAtOnce))
	rows := make([]vectorRow, 0, rowsAtOnce)
	for first := 0; first < len(words); first += rowsAtOnce {
		rows = rows[:0]
		for i := first; i < min(first+rowsAtOnce, len(words)); i++ {
			rows = append(rows, vectorRow{words[i], vectors[i*dim : (i+1)*dim]})
		}
		if _, err := out.Write(rows); err != nil {
			return err
		}
	}
	return out.Close()
}

// HoldsVectors reports whether a file of so many bytes is parquet with the columns of WriteVectors and no others.
func HoldsVectors(file io.ReaderAt, size int64) bool {
	p, err := openParquet(file, size)
	return err == nil && p.Schema().String() == parquet.SchemaOf(vectorRow{}).String()
}
