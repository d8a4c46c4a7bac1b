package words

import (
	"context"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/w2vcl/w2vcl/evaluate"
	"github.com/w2vcl/w2vcl/evaluate/dataset"
)

// cosMulEpsilon keeps 3CosMul from dividing by zero. It is Levy and Goldberg's; gensim's is 1e-6.
const cosMulEpsilon = 0.001

// A pass answers many questions in one pass over the table. Questions share few
// words (Google's 19,544 have 905), and every method needs nothing but the
// cosines of those words with each row. So for a block of rows the cosines of
// all words are one matrix product, and a question reads three rows of it: at
// 70,000 words of dimension 128 that is 20 times less arithmetic than a
// product for every question.
type pass struct {
	*evaluate.Lookup
	threads  int
	slots    map[int]int // row of a question word -> its slot
	queries  []float32   // (U, N), by slot: the words' unit vectors, and LRCos's weights
	searches []search
	cosMul   bool // one of the searches reads a block's shifted and inverse

	next atomic.Int64 // the next block of rows, while running
}

// A search looks for the row that answers one question.
type search struct {
	method   Method
	expected []int // canonical rows, any of which is right
	scan     func(b *block, best *candidate)
}

// A block holds the products of the queries with the rows first to last-1, (U,
// last-first) row-major each.
type block struct {
	first, last int
	cosines     []float32 // of LRCos's weights, the products
	shifted     []float32 // (cos+1)/2
	inverse     []float32 // 1/(shifted+epsilon)
}

func (b *block) of(values []float32, slot int) []float32 {
	n := b.last - b.first
	return values[slot*n : (slot+1)*n : (slot+1)*n]
}

// A candidate is the best answer so far; row is -1 before there is one.
type candidate struct {
	score float32
	row   int
}

var none = candidate{score: float32(math.Inf(-1)), row: -1}

// rows are the rows of a question's words, and of other right answers.
type rows struct {
	a, b, c, d int
	also       []int
}

// rowsOf finds the words of a question; ok is false if one of the three that are given or all
// right answers are missing.
func rowsOf(l *evaluate.Lookup, q dataset.Question) (rows, bool) {
	given, ok := l.Rows(q.A, q.B, q.C)
	answers := answerRows(l, q.D, q.Also)
	if !ok || len(answers) == 0 {
		return rows{}, false
	}
	return rows{given[0], given[1], given[2], answers[0], answers[1:]}, true
}

func answerRows(l *evaluate.Lookup, first string, also []string) (found []int) {
	if row, ok := l.Row(first); ok {
		found = append(found, row)
	}
	for _, word := range also {
		if row, ok := l.Row(word); ok {
			found = append(found, row)
		}
	}
	return found
}

func newPass(l *evaluate.Lookup, threads int) *pass {
	return &pass{Lookup: l, threads: threads, slots: make(map[int]int)}
}

// slot returns the slot of a word, a new one the first time.
func (p *pass) slot(row int) int {
	slot, ok := p.slots[row]
	if !ok {
		slot = p.addQuery(p.unit(row))
		p.slots[row] = slot
	}
	return slot
}

// addQuery adds any vector and returns its slot.
func (p *pass) addQuery(v []float32) (slot int) {
	p.queries = append(p.queries, v...)
	return len(p.queries)/p.Table.Dim - 1
}

// unit returns a row of the table at length 1.
func (p *pass) unit(row int) []float32 {
	return p.Table.Normalized()[row*p.Table.Dim : (row+1)*p.Table.Dim]
}

// ask adds a question for 3CosAdd or 3CosMul.
func (p *pass) ask(m Method, q rows) {
	a, b, c := p.slot(q.a), p.slot(q.b), p.slot(q.c)
	allowed := p.allBut(q.a, q.b, q.c)
	scan := func(bl *block, best *candidate) {
		scanCosAdd(bl.of(bl.cosines, a), bl.of(bl.cosines, b), bl.of(bl.cosines, c), bl.first, best, allowed)
	}
	if m == CosMul {
		p.cosMul = true
		scan = func(bl *block, best *candidate) {
			scanCosMul(bl.of(bl.inverse, a), bl.of(bl.shifted, b), bl.of(bl.shifted, c), bl.first, best, allowed)
		}
	}
	p.searches = append(p.searches, search{m, append([]int{q.d}, q.also...), scan})
}

// allBut allows all rows as answers but the words of the question, in any
// spelling that counts as the same.
func (p *pass) allBut(words ...int) func(row int) bool {
	return func(row int) bool { return !slices.Contains(words, p.Canonical(row)) }
}

// scanCosAdd looks for the largest cos(x,b) - cos(x,a) + cos(x,c). Rows come
// in rising order, so that the first of equal ones stays.
func scanCosAdd(a, b, c []float32, first int, best *candidate, allowed func(int) bool) {
	b, c = b[:len(a)], c[:len(a)]
	top := best.score
	for i := range a {
		if s := b[i] - a[i] + c[i]; s > top && allowed(first+i) {
			top = s
			*best = candidate{s, first + i}
		}
	}
}

// scanCosMul looks for the largest b·c·(1/a), all of them shifted.
func scanCosMul(inverseA, b, c []float32, first int, best *candidate, allowed func(int) bool) {
	b, c = b[:len(inverseA)], c[:len(inverseA)]
	top := best.score
	for i := range inverseA {
		if s := b[i] * c[i] * inverseA[i]; s > top && allowed(first+i) {
			top = s
			*best = candidate{s, first + i}
		}
	}
}

func (p *pass) run(ctx context.Context) (right map[Method]int, err error) {
	answers, err := p.answers(ctx)
	if err != nil {
		return nil, err
	}
	right = make(map[Method]int)
	for i, s := range p.searches {
		if answers[i] {
			right[s.method]++
		}
	}
	return right, nil
}

// answers passes over the table and tells for every search whether it found the
// expected row. The result does not depend on the number of processors.
func (p *pass) answers(ctx context.Context) ([]bool, error) {
	right := make([]bool, len(p.searches))
	if len(p.searches) == 0 {
		return right, ctx.Err()
	}
	p.Table.Normalized() // once, before the workers
	found := make([][]candidate, p.threads)
	var wg sync.WaitGroup
	for w := range found {
		wg.Go(func() { found[w] = p.work(ctx) })
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for i, s := range p.searches {
		best := none
		for _, answers := range found {
			if c := answers[i]; c.score > best.score || c.score == best.score && c.row < best.row {
				best = c
			}
		}
		right[i] = best.row >= 0 && slices.Contains(s.expected, p.Canonical(best.row))
	}
	return right, nil
}

// blockCosines is about how many cosines a block has, so that they stay in the second-level cache.
const blockCosines = 1 << 16

// work takes blocks of rows until none is left.
func (p *pass) work(ctx context.Context) []candidate {
	best := slices.Repeat([]candidate{none}, len(p.searches))
	slots := len(p.queries) / p.Table.Dim
	width := max(16, min(256, blockCosines/max(1, slots)))
	size := slots * width
	cosines, shifted, inverse := make([]float32, size), make([]float32, size), make([]float32, size)
	for ctx.Err() == nil {
		first := int(p.next.Add(1)-1) * width
		if first >= p.Limit {
			break
		}
		b := block{first: first, last: min(first+width, p.Limit)}
		n := slots * (b.last - first)
		b.cosines, b.shifted, b.inverse = cosines[:n], shifted[:n], inverse[:n]
		p.Table.Cosines(b.cosines, p.queries, first, b.last)
		if p.cosMul {
			for i, c := range b.cosines {
				b.shifted[i] = (c + 1) / 2
				b.inverse[i] = 1 / (b.shifted[i] + cosMulEpsilon)
			}
		}
		for i, s := range p.searches {
			s.scan(&b, &best[i])
		}
	}
	return best
}
