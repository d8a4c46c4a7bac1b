package walk

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync/atomic"

	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/textfile"
)

// mostTypes is how many types of nodes there may be.
const mostTypes = 255

// nameBytes are about the bytes of a map for each name of a node that is in it, without the name's own.
const nameBytes = 64

// nodeTypes are the types of a graph's nodes.
type nodeTypes struct {
	names []string
	kinds []uint8 // (V) numbers of names, from 1; 0: the node has no type
}

// readTypes reads the types of a graph's nodes: a node and its type a line. others is the number of lines whose node is not in the graph.
func (g *Graph) readTypes(ctx context.Context, path string) (others int, err error) {
	source, err := sourceOf(path)
	if err != nil {
		return 0, fmt.Errorf("cannot read the types of nodes: %w", err)
	}
	source.Lists = true
	var stored atomic.Int64
	text, err := textfile.Open(source, &stored)
	if err != nil {
		return 0, err
	}
	defer text.Close()
	done, err := memory.Room(nameBytes * int64(len(g.Names)))
	if err != nil {
		return 0, fmt.Errorf("the names of %d nodes: %w", len(g.Names), err)
	}
	defer done()
	nodes, numbers := make(map[string]uint32, len(g.Names)), map[string]uint8{}
	for i, name := range g.Names {
		nodes[name] = uint32(i)
	}
	t := &nodeTypes{kinds: make([]uint8, len(g.Names))}
	lines, fields := textfile.NewLines(memory.NewReader(ctx, text)), []field(nil)
	for lines.Next() {
		line := lines.Bytes()
		if fields = split(fields[:0], line); len(fields) == 0 {
			continue
		}
		if len(fields) != 2 {
			return 0, fmt.Errorf("%s: line %d, column %d: %d columns; a line has a node and its type", path, lines.Number, fields[len(fields)-1].to+1, len(fields))
		}
		node, ok := nodes[string(fields[0].of(line))]
		if !ok {
			others++
			continue
		}
		name := fields[1].of(line)
		number, ok := numbers[string(name)]
		if !ok {
			if t.names = append(t.names, string(name)); len(t.names) > mostTypes {
				return 0, fmt.Errorf("%s: line %d: there are more than %d types of nodes", path, lines.Number, mostTypes)
			}
			number = uint8(len(t.names))
			numbers[string(name)] = number
		}
		if old := t.kinds[node]; old > 0 && old != number {
			return 0, fmt.Errorf("%s: line %d: node %s has the type %s here, and %s before", path, lines.Number, g.Names[node], name, t.names[old-1])
		}
		t.kinds[node] = number
	}
	g.types = t
	if err := lines.Err(); err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	return others, nil
}

// of returns the types of the same nodes in another order. Of nil it is nil.
func (t *nodeTypes) of(names, order []string) (*nodeTypes, error) {
	if t == nil {
		return nil, nil
	}
	done, err := memory.Room(nameBytes * int64(len(names)))
	if err != nil {
		return nil, fmt.Errorf("the types of %d nodes: %w", len(names), err)
	}
	defer done()
	kinds := make(map[string]uint8, len(names))
	for i, name := range names {
		kinds[name] = t.kinds[i]
	}
	other := &nodeTypes{names: t.names, kinds: make([]uint8, 0, len(order))}
	for _, name := range order {
		other.kinds = append(other.kinds, kinds[name])
	}
	return other, nil
}

// A metaPath says of which type each node of a walk is (Dong, Chawla and Swami, "metapath2vec", KDD 2017, section 3.2.1).
type metaPath struct {
	*nodeTypes
	path     []uint8  // types of the first nodes, and again of those that follow
	starters []uint32 // walks begin at these nodes
	starts   []int    // the graph's
	ends     []uint32 // the graph's, but each row in the order of the types
}

// ParseMetaPath returns the types of a list with commas, for [Options].
func ParseMetaPath(list string) (types []string) {
	if list != "" {
		types = strings.Split(list, ",")
	}
	for i := range types {
		types[i] = strings.TrimSpace(types[i])
	}
	return types
}

// newMetaPath prepares walks along a path of types. The path repeats. A last type that equals the first is left out.
func (g *Graph) newMetaPath(ctx context.Context, names []string, threads int) (*metaPath, error) {
	if g.types == nil {
		return nil, fmt.Errorf("the meta-path %s needs the types of the nodes", strings.Join(names, ","))
	}
	if last := len(names) - 1; last > 0 && names[last] == names[0] {
		names = names[:last]
	}
	m := &metaPath{nodeTypes: g.types, starts: g.starts}
	for _, name := range names {
		at := slices.Index(m.names, name)
		if at < 0 {
			return nil, fmt.Errorf("no node has the type %q of the meta-path; there are %s", name, strings.Join(m.names, ", "))
		}
		m.path = append(m.path, uint8(at+1))
	}
	var err error
	if m.ends, err = allocate[uint32](g.store, len(g.ends)); err != nil {
		return nil, err
	}
	defer g.store.settle()
	places := make([][]int, threads)
	if err := eachNode(ctx, threads, len(g.Names), g.store, func(worker int, i uint32) error {
		places[worker] = m.order(g.neighbours(i), places[worker])
		for at, place := range places[worker] {
			m.ends[g.starts[i]+at] = g.ends[g.starts[i]+place]
		}
		return nil
	}); err != nil {
		return nil, err
	}
	for i, of := range m.kinds {
		if start, end := m.row(uint32(i), 1); of == m.path[0] && start < end {
			m.starters = append(m.starters, uint32(i))
		}
	}
	if len(m.starters) == 0 {
		return nil, fmt.Errorf("no edge leads along the meta-path %s from its first node", strings.Join(names, ","))
	}
	return m, nil
}

// order returns the places of a row's nodes by their types. Nodes of one type stay in their order.
func (m *metaPath) order(row []uint32, places []int) []int {
	places = places[:0]
	for k := range row {
		places = append(places, k)
	}
	slices.SortStableFunc(places, func(a, b int) int { return int(m.kinds[row[a]]) - int(m.kinds[row[b]]) })
	return places
}

// row returns where the neighbours begin and end that may be node number n of a walk, whose node before is here.
func (m *metaPath) row(here uint32, n int) (start, end int) {
	first, kind := m.starts[here], m.path[n%len(m.path)]
	row := m.ends[first:m.starts[here+1]]
	start = sort.Search(len(row), func(k int) bool { return m.kinds[row[k]] >= kind })
	end = start + sort.Search(len(row)-start, func(k int) bool { return m.kinds[row[start+k]] > kind })
	return first + start, first + end
}
