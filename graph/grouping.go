package graph

import "github.com/w2vcl/w2vcl/internal/memory"

// A grouping sorts the entries of a minibatch by the table row they update, so
// that conflicting gradients become one sum per row.
type grouping struct {
	slots   []uint32 // by row of the table: 1 + its place in rows; 0: not in the batch
	rows    []uint32 // the distinct rows, in order of first occurrence
	starts  []int    // entries of rows[i] are entries[starts[i]:starts[i+1]]
	entries []int
	others  []uint32 // for each of entries, the row of the other table it meets
}

// group sorts entries 0, 1, ... of which entry e updates row keys[e] and meets
// row others[e]. Entries of a row keep their order.
func (g *grouping) group(tableRows int, keys, others []uint32) {
	for _, row := range g.rows { // of the batch before
		g.slots[row] = 0
	}
	if len(g.slots) != tableRows {
		g.slots = make([]uint32, tableRows)
	}
	g.rows, g.starts = g.rows[:0], append(g.starts[:0], 0)
	for _, key := range keys {
		if g.slots[key] == 0 {
			g.rows, g.starts = append(g.rows, key), append(g.starts, 0)
			g.slots[key] = uint32(len(g.rows))
		}
		g.starts[g.slots[key]]++
	}
	for i := range g.rows {
		g.starts[i+1] += g.starts[i]
	}
	g.entries, g.others = memory.Resize(g.entries, len(keys)), memory.Resize(g.others, len(keys))
	// While filling, starts[i] runs to the end of group i; then all move up.
	for e, key := range keys {
		at := &g.starts[g.slots[key]-1]
		g.entries[*at], g.others[*at] = e, others[e]
		*at++
	}
	copy(g.starts[1:], g.starts)
	g.starts[0] = 0
}
