package simd

// AddToRows adds multiples of x to rows of a table (rows of n = len(x) values), one after the
// other: a row may be there twice. It fuses no multiplication.
//
//	for k, row := range rows { table[row*n+j] += coefficients[k]*x[j] }
//
// next names rows of the table for a later call. AddToRows asks the memory system for one after
// each row, and for those that are left at the end.
func AddToRows(table []float32, rows []uint32, coefficients, x []float32, next []uint32) {
	n := len(x)
	_ = coefficients[:len(rows)]
	if current == Go || n == 0 {
		addToRowsGo(table, rows, coefficients, x)
		return
	}
	both := min(len(rows), len(next))
	if both > 0 {
		addToRows(&table[0], &rows[0], &coefficients[0], both, &x[0], n, &next[0])
		rows, coefficients, next = rows[both:], coefficients[both:], next[both:]
	}
	if len(rows) > 0 {
		addToRows(&table[0], &rows[0], &coefficients[0], len(rows), &x[0], n, &rows[0])
	}
	PrefetchForUpdate(table, next, n)
}

func addToRowsGo(table []float32, rows []uint32, coefficients, x []float32) {
	n := len(x)
	for k, r := range rows {
		row, c := table[int(r)*n:][:n], coefficients[k]
		for j := range row {
			row[j] += float32(c * x[j])
		}
	}
}
