package graph

import (
	"math"
	"slices"

	"github.com/w2vcl/w2vcl/graph/step"
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/team"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/train/cluster"
	"github.com/w2vcl/w2vcl/train/trainer"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// onRanks is one rank's part of an iteration of CBOW. Every sum is computed by one rank, in the order of a
// single process, so the bits are those of one process. All ranks have both tables, and read the same stretches.
//
//	rows     of both tables: a rank trains those of consecutive words, and sends them to all
//	windows  a rank computes the gradients of consecutive windows, and their sums at each place. A sum goes to the
//	         rank that trains the row of the word there
//	columns  of what composes words: a rank composes and trains some columns of all rows. It sends its columns of the composed rows to
//	         all, and gets its columns of their gradients. Rows of all n-grams would take several times as much
//
// A rank computes the means of the windows that it needs, which takes less than sending them.
type onRanks struct {
	comm       cluster.Comm
	rank, size int
	team       *team.Team

	words   []int // (R+1): rank r trains the rows of the words words[r] ... words[r+1]-1
	columns []int // (R+1): and has the columns columns[r] ... columns[r+1]-1 of what composes words; nil: all ranks have all of it

	stretch *wordcontext.Stretch
	rows    []int    // (R+1): the rows of rank r are Rows[rows[r]] ... Rows[rows[r+1]-1] of the stretch
	windows []int    // (R+1): its windows are those of the places windows[r] ... windows[r+1]-1
	owner   []uint16 // (P): the rank of the row of the word at each place
	needed  []bool   // (P): whether this rank needs the mean of a window
	losses  [2][]int // (R) ends of the ranks' losses of either step, for AllGather

	sent, got      []float32 // buffers
	sentTo, gotFor []uint32  // places whose sums are sent and received, in their order
}

// cutsOfWords is how many parts of about equal cost words are cut into. A rank trains the rows of some parts, and no block of rows is of
// two parts, so that losses are summed in one order for any number of ranks.
const cutsOfWords = 64

// cutWords returns the first words of the parts, in which an iteration has about as much to do, and behind them V. A
// row that is trained costs about as much as the windows of four places.
func cutWords(s *wordcontext.Stretches) []int {
	const row = 4
	places := s.Places()
	cost := func(n float64) float64 { return row*(1-math.Exp(-n)) + n }
	all, sum := 0.0, 0.0
	for _, n := range places {
		all += cost(n)
	}
	cuts := []int{0}
	for word, n := range places {
		if sum += cost(n); len(cuts) < cutsOfWords && sum*cutsOfWords >= all*float64(len(cuts)) {
			cuts = append(cuts, word+1)
		}
	}
	for len(cuts) <= cutsOfWords {
		cuts = append(cuts, len(places))
	}
	return cuts
}

// cutRows returns the first of the rows that occur in each part of the words.
func cutRows(x *wordcontext.Stretch, cuts []int) []int {
	rows := make([]int, len(cuts))
	for i, word := range cuts {
		rows[i], _ = slices.BinarySearch(x.Rows, uint32(word))
	}
	return rows
}

// newOnRanks returns the part of a rank of several. Its memory comes with allocate.
func newOnRanks(size, rank int, s *wordcontext.Stretches, c Options) (*onRanks, error) {
	d, err := optim.Find(c.Optimizer.Method)
	if err != nil {
		return nil, err
	}
	o := &onRanks{rank: rank, size: size}
	cuts := cutWords(s)
	for r := range size + 1 {
		o.words = append(o.words, cuts[cutsOfWords*r/size])
	}
	if c.Composition != nil && !d.WholeRows && c.Dim >= size {
		for r := range size + 1 {
			o.columns = append(o.columns, c.Dim*r/size)
		}
	}
	return o, nil
}

// width is how many columns of what composes words a rank has, of n.
func (o *onRanks) width(rank, n int) int {
	if o == nil || o.columns == nil {
		return n
	}
	return o.columns[rank+1] - o.columns[rank]
}

// trains is how many words have rows that this rank trains.
func (o *onRanks) trains() int { return o.words[o.rank+1] - o.words[o.rank] }

// allocate takes the memory of what is exchanged.
func (o *onRanks) allocate(s *wordcontext.Stretches, workers *team.Team, c Options) {
	o.team = workers
	a, t := c.Account, s.Capacity()
	rows := min(t, s.Rows()) * c.Dim
	o.sent = a.Floats(trainer.ForWork, max(rows, t*c.Dim/o.size+2*c.Dim))
	o.got = a.Floats(trainer.ForWork, max(rows, t*c.Dim))
	o.owner, o.needed = trainer.Of[uint16](a, trainer.ForWork, t), trainer.Of[bool](a, trainer.ForWork, t)
	o.sentTo, o.gotFor = trainer.Of[uint32](a, trainer.ForWork, t), trainer.Of[uint32](a, trainer.ForWork, t)
}

// begin divides an iteration whose steps have blocks of rows and of windows.
func (o *onRanks) begin(x *wordcontext.Stretch, contexts, windows *step.Step) {
	o.stretch, o.rows = x, cutRows(x, o.words)
	blockOf := func(blocks []int, row int) int { b, _ := slices.BinarySearch(blocks, row); return b }
	ofRows, ofWindows, last := []int{}, []int{}, len(windows.Blocks)-1
	o.windows = o.windows[:0]
	for r := range o.size + 1 {
		ofRows = append(ofRows, blockOf(contexts.Blocks, o.rows[r]))
		ofWindows = append(ofWindows, last*r/o.size)
		o.windows = append(o.windows, windows.Blocks[last*r/o.size])
	}
	for i, ends := range [][]int{ofRows, ofWindows} {
		o.losses[i] = o.losses[i][:0]
		for _, end := range ends[1:] {
			o.losses[i] = append(o.losses[i], 8*end)
		}
	}
	contexts.Own = []int{ofRows[o.rank], ofRows[o.rank+1]}
	// A place is also in windows beside those of its rank.
	first, end := ofWindows[o.rank], ofWindows[o.rank+1]
	if from, to := o.ownWindows(); from < to {
		for first > 0 && windows.Blocks[first] > from-x.Window {
			first--
		}
		for end < last && windows.Blocks[end] < to+x.Window {
			end++
		}
	}
	windows.Own = []int{first, end}
	o.mark(windows.Blocks[first], windows.Blocks[end])
}

func (o *onRanks) ownWindows() (first, end int) { return o.windows[o.rank], o.windows[o.rank+1] }

func (o *onRanks) ownRows() (first, end int) { return o.rows[o.rank], o.rows[o.rank+1] }

// mark finds the rank of the row of each place, and which means are needed: those of the places of this rank's rows, of
// negatives, and of the windows from first up to end.
func (o *onRanks) mark(first, end int) {
	x := o.stretch
	o.owner, o.needed = memory.Resize(o.owner, len(x.Words)), memory.Resize(o.needed, len(x.Words))
	for r := range o.size {
		for _, q := range x.Places[x.Slots[o.rows[r]]:x.Slots[o.rows[r+1]]] {
			o.owner[q], o.needed[q] = uint16(r), r == o.rank
		}
	}
	for p := first; p < end; p++ {
		o.needed[p] = true
	}
	for _, p := range x.Windows {
		o.needed[p] = true
	}
}

// needs reports whether this rank needs the mean of window p.
func (o *onRanks) needs(p int) bool { return o == nil || o.needed[p] }

// sums reports whether this rank adds up the gradients of the windows that place q is in.
func (o *onRanks) sums(q int) bool {
	return o == nil || o.windows[o.rank] <= q && q < o.windows[o.rank+1]
}

// shareLosses brings the losses of the blocks of all ranks together, and returns their sum.
func (o *onRanks) shareLosses(steps ...*step.Step) (sum float64, err error) {
	for i, s := range steps {
		if err := o.comm.AllGather(cluster.Bytes(s.Losses()), o.losses[i]); err != nil {
			return 0, err
		}
		sum += s.Total()
	}
	return sum, nil
}

// shareRows brings the rows that each rank has trained to all.
func (o *onRanks) shareRows(table []float32, n int) error {
	x, ends := o.stretch, make([]int, o.size)
	for r := range ends {
		ends[r] = 4 * n * o.rows[r+1]
	}
	first, end := o.ownRows()
	all := memory.Resize(o.got, len(x.Rows)*n)
	o.got = all
	row := func(a int) (packed, row []float32) { return all[a*n:][:n], table[int(x.Rows[a])*n:][:n] }
	err := eachRow(o.team, end-first, func(_, i int) { to, from := row(first + i); copy(to, from) })
	if err != nil {
		return err
	}
	if err := o.comm.AllGather(cluster.Bytes(all), ends); err != nil {
		return err
	}
	return eachRow(o.team, len(x.Rows), func(_, a int) {
		if from, to := row(a); a < first || a >= end {
			copy(to, from)
		}
	})
}

// shareSums brings the sums at places, (T, N), to the ranks of their rows.
func (o *onRanks) shareSums(sums []float32, n int) error {
	sentEnds, gotEnds := make([]int, o.size), make([]int, o.size)
	first, end := o.ownWindows()
	o.sentTo, o.gotFor = o.sentTo[:0], o.gotFor[:0]
	for r := range o.size {
		for q := first; q < end; q++ {
			if int(o.owner[q]) == r {
				o.sentTo = append(o.sentTo, uint32(q))
			}
		}
		sentEnds[r] = 4 * n * len(o.sentTo)
		for q := o.windows[r]; q < o.windows[r+1]; q++ {
			if int(o.owner[q]) == o.rank {
				o.gotFor = append(o.gotFor, uint32(q))
			}
		}
		gotEnds[r] = 4 * n * len(o.gotFor)
	}
	o.sent, o.got = memory.Resize(o.sent, len(o.sentTo)*n), memory.Resize(o.got, len(o.gotFor)*n)
	err := eachRow(o.team, len(o.sentTo), func(_, i int) { copy(o.sent[i*n:][:n], sums[int(o.sentTo[i])*n:]) })
	if err != nil {
		return err
	}
	if err := o.comm.AllToAll(cluster.Bytes(o.sent), sentEnds, cluster.Bytes(o.got), gotEnds); err != nil {
		return err
	}
	return eachRow(o.team, len(o.gotFor), func(_, i int) { copy(sums[int(o.gotFor[i])*n:][:n], o.got[i*n:][:n]) })
}

// shareColumns brings the columns of composed rows, (V, own columns), of all ranks together: (V, N).
func (o *onRanks) shareColumns(rows, columns []float32, n int) error {
	x, ends := o.stretch, make([]int, o.size)
	count, own := len(x.Rows), o.width(o.rank, n)
	for r := range ends {
		ends[r] = 4 * count * o.columns[r+1]
	}
	o.got = memory.Resize(o.got, count*n)
	part := func(r, a int) []float32 { w := o.width(r, n); return o.got[count*o.columns[r]+a*w:][:w] }
	err := eachRow(o.team, count, func(_, a int) { copy(part(o.rank, a), columns[int(x.Rows[a])*own:]) })
	if err != nil {
		return err
	}
	if err := o.comm.AllGather(cluster.Bytes(o.got), ends); err != nil {
		return err
	}
	return eachRow(o.team, count, func(_, a int) {
		for r := range o.size {
			copy(rows[int(x.Rows[a])*n+o.columns[r]:], part(r, a))
		}
	})
}

// sendColumns gives each rank its columns of the rows that each has, (V, N), as columns, (V, own columns).
func (o *onRanks) sendColumns(rows, columns []float32, n int) error {
	x, sentEnds, gotEnds := o.stretch, make([]int, o.size), make([]int, o.size)
	first, end := o.ownRows()
	own := o.width(o.rank, n)
	for r := range o.size {
		sentEnds[r], gotEnds[r] = 4*(end-first)*o.columns[r+1], 4*own*o.rows[r+1]
	}
	o.sent, o.got = memory.Resize(o.sent, (end-first)*n), memory.Resize(o.got, len(x.Rows)*own)
	err := eachRow(o.team, end-first, func(_, i int) {
		for r := range o.size {
			w := o.width(r, n)
			copy(o.sent[(end-first)*o.columns[r]+i*w:][:w], rows[int(x.Rows[first+i])*n+o.columns[r]:])
		}
	})
	if err != nil {
		return err
	}
	if err := o.comm.AllToAll(cluster.Bytes(o.sent), sentEnds, cluster.Bytes(o.got), gotEnds); err != nil {
		return err
	}
	return eachRow(o.team, len(x.Rows), func(_, a int) { copy(columns[int(x.Rows[a])*own:][:own], o.got[a*own:]) })
}
