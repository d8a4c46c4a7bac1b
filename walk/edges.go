package walk

import (
	"cmp"
	"context"
	"fmt"
	"math"
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
// node: a key below wordKey is the number that is the name, and the others number all other names.
type edges struct {
	chunks []edgeChunk // in the order of the file
	words  *wordTable

	names  []string // of the nodes 0, 1, ..., in the order of names, if all are known; nil: unknown
	notes  []string
	layout *layout // nil: not of a file
}

// notef adds a note for the user.
func (e *edges) notef(format string, args ...any) {
	e.notes = append(e.notes, fmt.Sprintf(format, args...))
}

// Numbers below largestNumber are keys. Larger ones are names like any other, because a set of numbers takes a bit for each possible one.
const (
	largestNumber = 1 << 28
	wordKey       = 1 << 32
)

// An edgeChunk is some edges in a row.
type edgeChunk struct {
	from, to []uint64  // keys
	weights  []float32 // nil: all are 1
}

// count returns the number of edges.
func (e *edges) count() (n int) {
	for _, c := range e.chunks {
		n += len(c.from)
	}
	return n
}

// header returns the first node of the file if the second is the number of edges below, as in files that begin with counts; else 0.
func (e *edges) header() uint64 {
	first := e.chunks[0]
	if e.layout.titles != nil || len(first.from) == 0 || e.count() < 3 || first.from[0] >= wordKey || first.to[0] != uint64(e.count()-1) {
		return 0
	}
	return first.from[0]
}

// loneFirst reports whether the nodes of the first edge are words that no other edge has, as titles are.
func (e *edges) loneFirst() bool {
	first := e.chunks[0]
	if e.count() < 3 || len(first.from) == 0 || min(first.from[0], first.to[0]) < wordKey {
		return false
	}
	of := func(key uint64) bool { return key == first.from[0] || key == first.to[0] }
	return !slices.ContainsFunc(first.from[1:], of) && !slices.ContainsFunc(first.to[1:], of) &&
		!slices.ContainsFunc(e.chunks[1:], func(c edgeChunk) bool { return slices.ContainsFunc(c.from, of) || slices.ContainsFunc(c.to, of) })
}

// each calls visit for every edge, chunks side by side.
func (e *edges) each(ctx context.Context, threads int, visit func(from, to uint64)) error {
	return parallel.Do(ctx, threads, len(e.chunks), func(k int) {
		c := &e.chunks[k]
		for i, from := range c.from {
			visit(from, c.to[i])
		}
	})
}

// rename gives the nodes of the numbers 0, 1, ... these names. The nodes get their places in the order of all files.
func (e *edges) rename(names []string) {
	order, places := memory.Sequence[uint32](len(names)), make([]uint32, len(names))
	slices.SortFunc(order, func(a, b uint32) int { return compareNames(names[a], names[b]) })
	e.names = make([]string, len(names))
	for place, i := range order {
		places[i], e.names[place] = uint32(place), names[i]
	}
	for _, c := range e.chunks {
		for i := range c.from {
			c.from[i], c.to[i] = uint64(places[c.from[i]]), uint64(places[c.to[i]])
		}
	}
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

// A numbering gives the nodes of a file their first numbers, in the order of their names.
type numbering struct {
	set    []uint64 // bit n: there is a node of the name n
	before []uint32 // the bits before each number of set

	numbers int      // nodes of set
	words   []string // the names of the others, by key
	ranks   []uint32 // the place of each of these in order
	order   []uint32 // of the words
}

// number numbers the nodes.
func (e *edges) number(ctx context.Context, threads int) (*numbering, error) {
	n := &numbering{}
	if err := n.numberSet(ctx, e, threads); err != nil {
		return nil, err
	}
	const bytes = 16 + 4 + 4 + 4 // of a name in words, order, ranks and the copy of order that sorting makes on several threads, beside its text
	done, err := memory.Room(bytes * int64(e.words.count.Load()))
	if err != nil {
		return nil, fmt.Errorf("%d nodes: %w", e.words.count.Load(), err)
	}
	defer done()
	if n.words, err = e.words.names(ctx, threads); err != nil {
		return nil, err
	}
	n.order, n.ranks = memory.Sequence[uint32](len(n.words)), make([]uint32, len(n.words))
	if err := parallel.Sort(ctx, threads, n.order, func(a, b uint32) int { return compareNames(n.words[a], n.words[b]) }); err != nil {
		return nil, err
	}
	for rank, word := range n.order {
		n.ranks[word] = uint32(rank)
	}
	n.noteNumbers(e)
	if n.count() > maxNodes {
		return nil, fmt.Errorf("there are %d nodes, more than %d", n.count(), maxNodes)
	}
	return n, nil
}

// numberSet finds the nodes whose names are small numbers.
func (n *numbering) numberSet(ctx context.Context, e *edges, threads int) error {
	var largest atomic.Uint64
	raise := func(key uint64) {
		for old := largest.Load(); key < wordKey && key > old && !largest.CompareAndSwap(old, key); {
			old = largest.Load()
		}
	}
	if e.names != nil {
		raise(uint64(len(e.names) - 1))
	}
	if err := e.each(ctx, threads, func(from, to uint64) { raise(from); raise(to) }); err != nil {
		return err
	}
	done, err := memory.Room(int64(largest.Load()/8 + largest.Load()/16))
	if err != nil {
		return fmt.Errorf("nodes up to number %d: %w", largest.Load(), err)
	}
	defer done()
	n.set = make([]uint64, largest.Load()/64+1)
	mark := func(key uint64) {
		if word := &n.set[key/64%uint64(len(n.set))]; key < wordKey && atomic.LoadUint64(word)>>(key%64)&1 == 0 {
			atomic.OrUint64(word, 1<<(key%64))
		}
	}
	for i := range e.names {
		mark(uint64(i))
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

// noteNumbers adds a note about names that are numbers in an unusual form.
func (n *numbering) noteNumbers(e *edges) {
	count, example := 0, ""
	for _, i := range n.order {
		name := n.words[i]
		if strings.IndexByte("0123456789+-.", name[0]) < 0 {
			continue
		}
		x, err := strconv.ParseFloat(name, 64)
		if plain := strconv.FormatFloat(x, 'f', -1, 64); err == nil && plain != name && math.Abs(x) < 1<<53 {
			count++
			example = cmp.Or(example, fmt.Sprintf("%s and %s are different nodes", name, plain))
		}
	}
	if count > 0 {
		e.notef("the names of %d nodes are numbers in an unusual form: %s", count, example)
	}
}

// count returns the number of nodes.
func (n *numbering) count() int { return n.numbers + len(n.words) }

// of returns the first number of a node.
func (n *numbering) of(key uint64) uint32 {
	if key >= wordKey {
		return uint32(n.numbers) + n.ranks[key-wordKey]
	}
	return n.before[key/64] + uint32(bits.OnesCount64(n.set[key/64]&(1<<(key%64)-1)))
}

// names returns the names of all nodes by first number.
func (n *numbering) names(ctx context.Context, threads int) ([]string, error) {
	names := make([]string, n.count())
	const together = 1 << 14 // share one piece of memory
	err := parallel.Do(ctx, threads, (n.numbers+together-1)/together, func(k int) {
		first, end := k*together, min((k+1)*together, n.numbers)
		var text strings.Builder
		var digits [20]byte
		ends := make([]int, 0, end-first)
		n.eachNumber(first, end, func(key uint64) {
			text.Write(strconv.AppendUint(digits[:0], key, 10))
			ends = append(ends, text.Len())
		})
		all, from := text.String(), 0
		for i, to := range ends {
			names[first+i] = all[from:to]
			from = to
		}
	})
	for i, word := range n.order {
		names[n.numbers+i] = n.words[word]
	}
	return names, err
}

// eachNumber calls visit with the names that are numbers, in rising order: those of the nodes first ... end-1.
func (n *numbering) eachNumber(first, end int, visit func(key uint64)) {
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
