package embedding

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// A search multiplies rowBlock rows of the table with queryBlock queries at a time.
// At dimension 128 the rows take 128 KiB, so they stay in the second-level cache
// for all queries.
const (
	rowBlock   = 256
	queryBlock = 64
)

// A Neighbor is one answer to a query.
type Neighbor struct {
	Row    int     `json:"row"`
	Word   string  `json:"word"`
	Cosine float32 `json:"cosine"`
}

// Nearest returns, for each query, the k rows with the largest cosine to it, best
// first. Of equal cosines the earlier row comes first. A query is a vector of N
// values and of any length. exclude[q], where given, lists rows that are no answer
// to query q. An answer has fewer than k neighbours only if the table has fewer
// rows left. The cosine with a vector of zeros is 0.
//
// The result is the same on any number of processors. Errors: a query of another
// dimension, NaN or infinity in a query, k below 1, more lists in exclude than
// queries, a cancelled context.
func (t *Table) Nearest(ctx context.Context, queries [][]float32, k int, exclude ...[]int) ([][]Neighbor, error) {
	if k < 1 {
		return nil, fmt.Errorf("cannot search for %d neighbours; ask for 1 or more", k)
	}
	if len(exclude) > len(queries) {
		return nil, fmt.Errorf("there are %d lists of excluded rows for %d queries", len(exclude), len(queries))
	}
	normalized, err := t.normalizedQueries(queries)
	if err != nil {
		return nil, err
	}
	s := search{table: t, queries: normalized, exclude: make([][]int, len(queries)), k: min(k, t.Len())}
	copy(s.exclude, exclude)
	t.Normalized() // compute them before the workers need them

	workers := min(runtime.GOMAXPROCS(0), (t.Len()+rowBlock-1)/rowBlock)
	found := make([][]ranking, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() { found[w] = s.work(ctx) })
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return s.merge(found), nil
}

// NearestWords is [Table.Nearest] with rows of the table as queries. The answer to a
// row does not contain the row itself.
func (t *Table) NearestWords(ctx context.Context, rows []int, k int) ([][]Neighbor, error) {
	queries, exclude := make([][]float32, len(rows)), make([][]int, len(rows))
	for i, row := range rows {
		if row < 0 || row >= t.Len() {
			return nil, fmt.Errorf("there is no row %d in a table of %d words", row, t.Len())
		}
		queries[i], exclude[i] = t.Vector(row), []int{row}
	}
	return t.Nearest(ctx, queries, k, exclude...)
}

// Cosines computes the cosines of queries of length 1 with rows first to last-1 of
// the table. Batched searches are made of it. queries: (Q, N), dst: (Q, last-first),
// both row-major. For a query of another length, the results are its dot products
// with the normalized rows.
func (t *Table) Cosines(dst, queries []float32, first, last int) {
	products(dst, queries, t.Normalized()[first*t.Dim:last*t.Dim], t.Dim)
}

// normalizedQueries returns the queries, scaled to length 1, as one (Q, N) matrix.
func (t *Table) normalizedQueries(queries [][]float32) ([]float32, error) {
	normalized := make([]float32, 0, len(queries)*t.Dim)
	for q, query := range queries {
		if len(query) != t.Dim {
			return nil, fmt.Errorf("query %d has dimension %d, but the table has %d", q, len(query), t.Dim)
		}
		for i, v := range query {
			if !Finite(v) {
				return nil, fmt.Errorf("value %d of query %d is %v", i, q, v)
			}
		}
		normalized = append(normalized, query...)
		normalize(normalized[q*t.Dim:])
	}
	return normalized, nil
}

// A search is one call of Nearest. Its workers share the blocks of rows.
type search struct {
	table   *Table
	queries []float32 // (Q, N), rows of length 1
	exclude [][]int   // rows that are no answer, for each query
	k       int
	next    atomic.Int64 // the next block of rows
}

// work takes blocks of rows until none is left. It returns the best k of these rows
// for each query. Its blocks come in rising order, as ranking needs them.
func (s *search) work(ctx context.Context) []ranking {
	t := s.table
	best := make([]ranking, len(s.exclude))
	cosines := make([]float32, queryBlock*rowBlock)
	for ctx.Err() == nil {
		first := int(s.next.Add(1)-1) * rowBlock
		if first >= t.Len() {
			break
		}
		last := min(first+rowBlock, t.Len())
		for q := 0; q < len(best); q += queryBlock {
			end := min(q+queryBlock, len(best))
			block := cosines[:(end-q)*(last-first)]
			t.Cosines(block, s.queries[q*t.Dim:end*t.Dim], first, last)
			for i := q; i < end; i++ {
				best[i].addBlock(block[(i-q)*(last-first):][:last-first], first, s.k, s.exclude[i])
			}
		}
	}
	return best
}

// merge joins the rankings of all workers into the answers.
func (s *search) merge(found [][]ranking) [][]Neighbor {
	answers := make([][]Neighbor, len(s.exclude))
	for q := range answers {
		var all ranking
		for _, best := range found {
			all = append(all, best[q]...)
		}
		slices.SortFunc(all, func(a, b candidate) int {
			return cmp.Or(cmp.Compare(b.cosine, a.cosine), cmp.Compare(a.row, b.row))
		})
		all = all[:min(s.k, len(all))]
		answers[q] = make([]Neighbor, len(all))
		for i, c := range all {
			answers[q][i] = Neighbor{Row: c.row, Word: s.table.Words[c.row], Cosine: c.cosine}
		}
	}
	return answers
}

// A candidate is a row that may be an answer to a query.
type candidate struct {
	cosine float32
	row    int
}

// worse reports whether a ranks after b: by a lower cosine or, on a tie, a later row.
func (a candidate) worse(b candidate) bool {
	return a.cosine < b.cosine || a.cosine == b.cosine && a.row > b.row
}

// A ranking is a heap of the best candidates so far. The worst of them is first.
type ranking []candidate

// addBlock offers the rows first, first+1, … with their cosines to the best k.
// Blocks must come in rising order: a later row never wins a tie.
func (r *ranking) addBlock(cosines []float32, first, k int, exclude []int) {
	for i, cosine := range cosines {
		if len(*r) == k && cosine <= (*r)[0].cosine {
			continue
		}
		if row := first + i; !slices.Contains(exclude, row) {
			r.add(candidate{cosine, row}, k)
		}
	}
}

// add puts c on the heap. If the heap holds k candidates, c replaces the worst one.
func (r *ranking) add(c candidate, k int) {
	if len(*r) < k {
		*r = append(*r, c)
		h := *r
		for i := len(h) - 1; i > 0 && h[i].worse(h[(i-1)/2]); i = (i - 1) / 2 {
			h[i], h[(i-1)/2] = h[(i-1)/2], h[i]
		}
		return
	}
	h := *r
	h[0] = c
	for i := 0; ; {
		child := 2*i + 1
		if child >= len(h) {
			return
		}
		if child+1 < len(h) && h[child+1].worse(h[child]) {
			child++
		}
		if !h[child].worse(h[i]) {
			return
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
}

// products computes the dot products of all queries with all rows:
//
//	for q := range Q {
//		for r := range R {
//			dst[q*R+r] = dot(queries[q*dim:][:dim], rows[r*dim:][:dim])
//		}
//	}
//
// queries: (Q, N), rows: (R, N), dst: (Q, R), all row-major. Searches have no other
// arithmetic: a faster kernel goes here. One sum adds up each product in the order
// of the dimensions, so the value depends on no other query or row.
func products(dst, queries, rows []float32, dim int) {
	count, width := len(queries)/dim, len(rows)/dim
	vector := func(m []float32, i int) []float32 { return m[i*dim : (i+1)*dim : (i+1)*dim] }
	for q := 0; q < count; q += 2 {
		next := min(q+1, count-1) // a last single query is computed twice
		a, b := vector(queries, q), vector(queries, next)
		dstA, dstB := dst[q*width:(q+1)*width], dst[next*width:(next+1)*width]
		r := 0
		for ; r+1 < width; r += 2 {
			dstA[r], dstA[r+1], dstB[r], dstB[r+1] = tile(a, b, vector(rows, r), vector(rows, r+1))
		}
		if r < width {
			dstA[r], dstB[r] = dot(a, vector(rows, r)), dot(b, vector(rows, r))
		}
	}
}

// tile returns a·c, a·d, b·c and b·d. Four loads feed four products. The four sums
// stay in registers and do not wait for each other. Larger tiles were slower in Go.
func tile(a, b, c, d []float32) (ac, ad, bc, bd float32) {
	n := len(a)
	b, c, d = b[:n], c[:n], d[:n] // removes bounds checks from the loop
	for k, x := range a {
		y, v, w := b[k], c[k], d[k]
		ac += x * v
		ad += x * w
		bc += y * v
		bd += y * w
	}
	return ac, ad, bc, bd
}

// dot returns a·b.
func dot(a, b []float32) float32 {
	b = b[:len(a)]
	var sum float32
	for k, x := range a {
		sum += x * b[k]
	}
	return sum
}
