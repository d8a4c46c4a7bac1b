package wordmap

import "math"

// A tree is a quadtree over places. A cell knows how many places it has and where their
// centre is, so that a distant cell acts as one.
type tree struct {
	cells []cell
	leaf  []int32 // the cell of each place
}

// A cell is a square. A leaf has one place, or several that are (nearly) the same.
type cell struct {
	x, y     float64 // middle of the square
	half     float64 // of its side
	sumX     float64
	sumY     float64
	mass     float64
	children [4]int32 // 0: none
	inner    bool
	place    Place // of a leaf
}

// smallest is the side of the smallest cell, as a share of the whole: places nearer to
// each other share a leaf.
const smallest = 1e-9

func newTree(places []Place) *tree {
	low, high := places[0], places[0]
	for _, p := range places {
		low = Place{min(low.X, p.X), min(low.Y, p.Y)}
		high = Place{max(high.X, p.X), max(high.Y, p.Y)}
	}
	half := max(high.X-low.X, high.Y-low.Y, 1e-12)/2*1.000001 + 1e-300
	t := &tree{cells: make([]cell, 0, 2*len(places)+8), leaf: make([]int32, len(places))}
	t.cells = append(t.cells, cell{x: (low.X + high.X) / 2, y: (low.Y + high.Y) / 2, half: half})
	owner := make([]int32, 1, cap(t.cells)) // of a leaf, its first place
	for i, p := range places {
		at := int32(0)
		for {
			c := &t.cells[at]
			c.sumX, c.sumY, c.mass = c.sumX+p.X, c.sumY+p.Y, c.mass+1
			if !c.inner && (c.mass == 1 || c.half < half*smallest || c.place == p) {
				if c.mass == 1 {
					c.place, owner[at] = p, int32(i)
				}
				t.leaf[i] = at
				break
			}
			if !c.inner { // a leaf gets a second place: its first ones move down
				old := *c
				c.inner = true
				child := t.child(at, old.place)
				below := &t.cells[child]
				below.mass, below.place = old.mass-1, old.place
				below.sumX, below.sumY = old.sumX-p.X, old.sumY-p.Y
				owner = append(owner, make([]int32, len(t.cells)-len(owner))...)
				owner[child] = owner[at]
				t.leaf[owner[at]] = child
				for k := owner[at] + 1; below.mass > 1 && k < int32(i); k++ { // more of the same place, which is rare
					if t.leaf[k] == at {
						t.leaf[k] = child
					}
				}
			}
			at = t.child(at, p)
			owner = append(owner, make([]int32, len(t.cells)-len(owner))...)
		}
	}
	return t
}

// child returns the quarter of a cell that a place is in, and makes it if need be.
func (t *tree) child(at int32, p Place) int32 {
	c := &t.cells[at]
	half := c.half / 2
	quarter, x, y := 0, c.x-half, c.y-half
	if p.X >= c.x {
		quarter, x = 1, c.x+half
	}
	if p.Y >= c.y {
		quarter, y = quarter+2, c.y+half
	}
	if c.children[quarter] == 0 {
		c.children[quarter] = int32(len(t.cells))
		t.cells = append(t.cells, cell{x: x, y: y, half: half})
	}
	return t.cells[at].children[quarter]
}

// repulsion returns the force of all other places on place i, times Z, and i's part of Z:
// the sums over j of (y_i - y_j)/(1+d²)² and of 1/(1+d²). A cell whose side is less than
// theta times its distance acts as one; with theta 0 every place acts alone.
func (t *tree) repulsion(i int, at Place, theta float64, stack []int32) (force Place, z float64, spare []int32) {
	stack = append(stack[:0], 0)
	for len(stack) > 0 {
		number := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		c := &t.cells[number]
		mass := c.mass
		dx, dy := at.X-c.sumX/c.mass, at.Y-c.sumY/c.mass
		square := dx*dx + dy*dy
		switch {
		case !c.inner && t.leaf[i] == number:
			if mass--; mass == 0 {
				continue
			}
			dx, dy, square = at.X-c.place.X, at.Y-c.place.Y, 0
		case c.inner && 4*c.half*c.half >= theta*theta*square:
			for _, child := range c.children {
				if child != 0 {
					stack = append(stack, child)
				}
			}
			continue
		}
		q := 1 / (1 + square)
		z += mass * q
		force.X += mass * q * q * dx
		force.Y += mass * q * q * dy
	}
	return force, z, stack
}

// exactRepulsion is repulsion without a tree.
func exactRepulsion(places []Place, i int) (force Place, z float64) {
	for j, p := range places {
		if j == i {
			continue
		}
		dx, dy := places[i].X-p.X, places[i].Y-p.Y
		q := 1 / (1 + dx*dx + dy*dy)
		z += q
		force.X += q * q * dx
		force.Y += q * q * dy
	}
	return force, z
}

// finite reports whether a place is one.
func (p Place) finite() bool {
	return !math.IsNaN(p.X+p.Y) && !math.IsInf(p.X+p.Y, 0)
}
