package walk

import (
	"cmp"
	"context"
	"fmt"
	"math/bits"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/parallel"
)

// edges is what a file holds, before its nodes are numbered. A key stands for the name of a
// node: a key below wordKey is the number that is the name, and the others number the names that
// are no numbers.
type edges struct {
	chunks []edgeChunk // in the order of the file
	words  *wordTable
	rows   *rows // in place of chunks
	store  store // of the chunks of a list, or of the rows

	first, given uint64   // the nodes first ... first+given-1 are in the graph, also without edges
	names        []string // of these nodes, in the order of names or, of rows, in any; nil: their numbers

	notes    []string
	bothWays bool // the file should hold each undirected edge twice
}

const wordKey = 1 << 63

// An edgeChunk is some edges in a row.
type edgeChunk struct {
	from, to []uint64  // keys
	weights  []float32 // nil: all are 1

	backWeights []float32 // of the arcs in to, once a filler has made arcs of the edges
}

// count returns the number of edges.
func (e *edges) count() (n int) {
	if e.rows != nil {
		return len(e.rows.ends)
	}
	for _, c := range e.chunks {
		n += len(c.from)
	}
	return n
}

// each calls visit for every edge, chunks side by side.
func (e *edges) each(ctx context.Context, threads int, visit func(from, to uint64)) error {
	return parallel.Do(ctx, threads, len(e.chunks), func(k int) {
		c := &e.chunks[k]
		for i, from := range c.from {
			visit(from, c.to[i])
		}
		e.store.giveBack()
	})
}

// rename gives the nodes of the numbers 0, 1, ... these names. The nodes get their places in the order of all files.
func (e *edges) rename(names []string) {
	order, places := inOrder(names)
	e.names = make([]string, len(names))
	for place, i := range order {
		e.names[place] = names[i]
	}
	for _, c := range e.chunks {
		for i := range c.from {
			c.from[i], c.to[i] = uint64(places[c.from[i]]), uint64(places[c.to[i]])
		}
	}
}

// inOrder returns the order of names, and the place of each name in it.
func inOrder(names []string) (order, places []uint32) {
	order, places = make([]uint32, len(names)), make([]uint32, len(names))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int { return compareNames(names[a], names[b]) })
	for place, i := range order {
		places[i] = uint32(place)
	}
	return order, places
}

// compareNames is the order of names: numbers come first.
func compareNames(a, b string) int {
	x, ends := digits([]byte(a), 0)
	y, end := digits([]byte(b), 0)
	switch aNumber, bNumber := ends == len(a), end == len(b); {
	case aNumber && bNumber:
		return cmp.Compare(x, y)
	case aNumber:
		return -1
	case bNumber:
		return 1
	}
	return strings.Compare(a, b)
}

// A wordTable numbers names. Any number of goroutines may use it.
type wordTable struct {
	count  atomic.Uint64
	full   atomic.Pointer[error] // why no name can be added: each goroutine stops at its next
	shards [64]wordShard
}

type wordShard struct {
	sync.Mutex
	keys map[string]uint64
}

// key returns the key of a name.
func (t *wordTable) key(name []byte) (uint64, error) {
	hash := uint32(2166136261)
	for _, b := range name {
		hash = (hash ^ uint32(b)) * 16777619
	}
	s := &t.shards[hash%uint32(len(t.shards))]
	s.Lock()
	defer s.Unlock()
	if key, ok := s.keys[string(name)]; ok {
		return key, nil
	}
	if s.keys == nil {
		s.keys = map[string]uint64{}
	}
	if full := t.full.Load(); full != nil {
		return 0, *full
	}
	n := t.count.Add(1)
	if n > maxNodes {
		return 0, fmt.Errorf("there are more than %d nodes", maxNodes)
	}
	const bytes, step = 128, 1 << 14 // of an entry; entries for which there must be memory at a time: Room lets less than 1 MB pass
	if n%step == 0 {
		done, err := memory.Room(step * (bytes + int64(len(name))))
		if err != nil {
			t.full.Store(&err)
			return 0, err
		}
		done()
	}
	s.keys[string(name)] = wordKey + n - 1
	return wordKey + n - 1, nil
}

// names returns the names by number.
func (t *wordTable) names(ctx context.Context, threads int) ([]string, error) {
	names := make([]string, t.count.Load())
	return names, parallel.Do(ctx, threads, len(t.shards), func(i int) {
		for name, key := range t.shards[i].keys {
			names[key-wordKey] = name
		}
	})
}

// A numbering gives the nodes of a file their first numbers: those with numbers as names come
// first, in rising order, then the others in the order of the bytes.
type numbering struct {
	set    []uint64 // bit n: there is a node of the name n; nil: sorted has them
	before []uint32 // the bits before each number of set
	sorted []uint64

	numbers int      // nodes that have numbers
	words   []string // the names of the others, by key
	ranks   []uint32 // the place of each of these in order
	order   []uint32 // of the words
}

// number numbers the nodes.
func (e *edges) number(ctx context.Context, threads int) (*numbering, error) {
	var largest atomic.Uint64
	raise := func(key uint64) {
		for old := largest.Load(); key < wordKey && key > old && !largest.CompareAndSwap(old, key); {
			old = largest.Load()
		}
	}
	if e.given > 0 {
		raise(e.first + e.given - 1)
	}
	if err := e.each(ctx, threads, func(from, to uint64) { raise(from); raise(to) }); err != nil {
		return nil, err
	}
	n := &numbering{}
	if e.words != nil {
		const bytes = 16 + 4 + 4 + 4 // of a name in words, order, ranks and the copy of order that sorting makes on several threads, beside its text
		done, err := memory.Room(bytes * int64(e.words.count.Load()))
		if err != nil {
			return nil, fmt.Errorf("%d nodes: %w", e.words.count.Load(), err)
		}
		defer done()
		if n.words, err = e.words.names(ctx, threads); err != nil {
			return nil, err
		}
	}
	const sparse = 64 // numbers for each edge: then a list takes less memory than a bit for each number
	number := n.numberSorted
	if largest.Load()/sparse <= uint64(e.count())+e.given {
		number = func(e *edges) error { return n.numberSet(ctx, e, threads, largest.Load()) }
	}
	if err := number(e); err != nil {
		return nil, err
	}
	n.order, n.ranks = make([]uint32, len(n.words)), make([]uint32, len(n.words))
	for i := range n.order {
		n.order[i] = uint32(i)
	}
	if err := parallel.Sort(ctx, threads, n.order, func(a, b uint32) int { return strings.Compare(n.words[a], n.words[b]) }); err != nil {
		return nil, err
	}
	for rank, word := range n.order {
		n.ranks[word] = uint32(rank)
	}
	if n.count() > maxNodes {
		return nil, fmt.Errorf("there are %d nodes, more than %d", n.count(), maxNodes)
	}
	return n, nil
}

// numberSet numbers nodes whose numbers are dense.
func (n *numbering) numberSet(ctx context.Context, e *edges, threads int, largest uint64) error {
	done, err := memory.Room(int64(largest/8 + largest/16))
	if err != nil {
		return fmt.Errorf("nodes up to number %d: %w", largest, err)
	}
	defer done()
	n.set = make([]uint64, largest/64+1)
	mark := func(key uint64) {
		if word := &n.set[key/64%uint64(len(n.set))]; key < wordKey && atomic.LoadUint64(word)>>(key%64)&1 == 0 {
			atomic.OrUint64(word, 1<<(key%64))
		}
	}
	for i := range e.given {
		mark(e.first + i)
	}
	if err := e.each(ctx, threads, func(from, to uint64) { mark(from); mark(to) }); err != nil {
		return err
	}
	n.before = make([]uint32, len(n.set))
	for i, word := range n.set {
		n.before[i] = uint32(n.numbers)
		n.numbers += bits.OnesCount64(word)
	}
	return nil
}

// numberSorted numbers nodes whose numbers are far apart.
func (n *numbering) numberSorted(e *edges) (err error) {
	for i := range e.given {
		n.sorted = append(n.sorted, e.first+i)
	}
	for _, c := range e.chunks {
		if n.sorted, err = memory.Grow(n.sorted, 2*len(c.from)); err != nil {
			return err
		}
		for i, from := range c.from {
			for _, key := range [2]uint64{from, c.to[i]} {
				if key < wordKey {
					n.sorted = append(n.sorted, key)
				}
			}
		}
		if len(n.sorted) >= 2*n.numbers { // twice as many as were different
			slices.Sort(n.sorted)
			n.sorted = slices.Compact(n.sorted)
			n.numbers = max(len(n.sorted), 1<<16)
		}
	}
	slices.Sort(n.sorted)
	n.sorted = slices.Compact(n.sorted)
	n.numbers = len(n.sorted)
	return nil
}

// count returns the number of nodes.
func (n *numbering) count() int { return n.numbers + len(n.words) }

// of returns the first number of a node.
func (n *numbering) of(key uint64) uint32 {
	switch {
	case key >= wordKey:
		return uint32(n.numbers) + n.ranks[key-wordKey]
	case n.set != nil:
		return n.before[key/64] + uint32(bits.OnesCount64(n.set[key/64]&(1<<(key%64)-1)))
	default:
		at, _ := slices.BinarySearch(n.sorted, key)
		return uint32(at)
	}
}

// namesOf returns the names of all nodes by first number.
func (n *numbering) namesOf(ctx context.Context, threads int, e *edges) ([]string, error) {
	if e.names != nil { // all nodes were given
		return e.names, nil
	}
	names := make([]string, n.count())
	if err := numberNames(ctx, threads, names[:n.numbers], n.eachNumber); err != nil {
		return nil, err
	}
	return names, eachNode(ctx, threads, len(n.words), nil, func(_ int, i uint32) error {
		names[n.numbers+int(i)] = n.words[n.order[i]]
		return nil
	})
}

// numberNames writes the numbers of nodes into names, as text. each visits the numbers of the nodes first ... end-1.
func numberNames(ctx context.Context, threads int, names []string, each func(first, end int, visit func(key uint64))) error {
	const together = 1 << 14 // share one piece of memory
	return parallel.Do(ctx, threads, (len(names)+together-1)/together, func(k int) {
		first, end := k*together, min((k+1)*together, len(names))
		var text strings.Builder
		var digits [20]byte
		ends := make([]int, 0, end-first)
		each(first, end, func(key uint64) {
			text.Write(strconv.AppendUint(digits[:0], key, 10))
			ends = append(ends, text.Len())
		})
		all, from := text.String(), 0
		for i, to := range ends {
			names[first+i] = all[from:to]
			from = to
		}
	})
}

// eachNumber calls visit with the names that are numbers, in rising order: those of the nodes first ... end-1.
func (n *numbering) eachNumber(first, end int, visit func(key uint64)) {
	if n.set == nil {
		for _, key := range n.sorted[first:end] {
			visit(key)
		}
		return
	}
	i := sort.Search(len(n.before), func(i int) bool { return int(n.before[i]) > first }) - 1 // the first number is in set[i]
	for at := int(n.before[i]); at < end; i++ {
		for set := n.set[i]; set != 0 && at < end; set &= set - 1 {
			if at >= first {
				visit(64*uint64(i) + uint64(bits.TrailingZeros64(set)))
			}
			at++
		}
	}
}
