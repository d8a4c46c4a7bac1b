package simd

import "github.com/w2vcl/w2vcl/internal/memory"

// panelColumns is the number of columns of a panel.
const panelColumns = 64

// Panels are a copy of some rows of a table: all rows of the first 64 columns lie one after the other, then those of the next 64. So
// a loop over rows reads memory in order, and whole cache lines.
type Panels struct {
	values []float32
	rows   int
}

// Gather copies rows of a table, of n values each.
func (p *Panels) Gather(table []float32, n int, rows []uint32) {
	p.rows = len(rows)
	panel := p.rows * panelColumns
	p.values = memory.Resize(p.values, (n+panelColumns-1)/panelColumns*panel)
	for i, row := range rows {
		from, to := table[int(row)*n:][:n], p.values[i*panelColumns:]
		for len(from) > panelColumns {
			copy(to[:panelColumns], from)
			from, to = from[panelColumns:], to[panel:]
		}
		copy(to, from)
	}
}

// Clear writes zeros to a row.
func (p *Panels) Clear(row int) {
	for at := row * panelColumns; at < len(p.values); at += p.rows * panelColumns {
		clear(p.values[at:][:panelColumns])
	}
}

// PanelBytes is the memory of rows of n values in panels.
func PanelBytes(rows, n int) int64 {
	return 4 * int64(rows) * int64((n+panelColumns-1)/panelColumns*panelColumns)
}

// A ProductSum is a sum over at least one row of two panels; see SumProducts.
type ProductSum struct {
	Out    uint32 // the row of the result
	Weight uint32 // the first weight
	Step   uint32 // 1: each row has the next weight; 0: all have the first
	A, B   uint32 // the first rows
	Rows   uint32
	Add    uint32 // 1: the sum is added to what is there; 0: it replaces it
}

// SumProducts computes sums of products by element, each of a row of a and a row of b, in rows of a table (of n values):
//
//	for _, s := range sums {
//		for j := range n {
//			x := s.Add * table[s.Out*n+j]
//			for i := range s.Rows {
//				x += weights[s.Weight+s.Step*i] * (a[s.A+i][j] * b[s.B+i][j])
//			}
//			table[s.Out*n+j] = x
//		}
//	}
func SumProducts(table []float32, n int, sums []ProductSum, weights []float32, a, b *Panels) {
	if len(sums) == 0 {
		return
	}
	for column := 0; column < n; column += panelColumns {
		x, y := a.values[a.rows*column:], b.values[b.rows*column:]
		sumPanel(table[column:], n, min(n-column, panelColumns), sums, weights, x, y)
	}
}

// sumPanel is SumProducts for the first columns of a table, a panel or less.
func sumPanel(table []float32, n, columns int, sums []ProductSum, weights, a, b []float32) {
	switch {
	case current == Go:
		sumPanelGo(table, n, columns, sums, weights, a, b)
	case current == AVX512 || columns == panelColumns:
		sumProducts(&table[0], n, columns, sums, &weights[0], &a[0], &b[0])
	default:
		for _, s := range sums {
			var whole [panelColumns]float32
			out := table[int(s.Out)*n:][:columns]
			if s.Add != 0 {
				copy(whole[:], out)
			}
			s.Out = 0
			sumProducts(&whole[0], n, columns, []ProductSum{s}, &weights[0], &a[0], &b[0])
			copy(out, whole[:])
		}
	}
}

func sumPanelGo(table []float32, n, columns int, sums []ProductSum, weights, a, b []float32) {
	for _, s := range sums {
		out := table[int(s.Out)*n:][:columns]
		if s.Add == 0 {
			clear(out)
		}
		for i := range int(s.Rows) {
			c := weights[int(s.Weight)+int(s.Step)*i]
			x, y := a[(int(s.A)+i)*panelColumns:][:columns], b[(int(s.B)+i)*panelColumns:][:columns]
			for j := range out {
				out[j] += c * (x[j] * y[j])
			}
		}
	}
}
