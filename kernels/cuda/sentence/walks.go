package sentence

// Walks are random walks over a graph whose text a device can make itself: sentence i is walk First+i. Walk w begins in round
// w/Starters, at the node that the round's order gives for w mod Starters; see package walk.
type Walks struct {
	First      int
	Seed       uint64
	Starts     []int    // (V+1): the neighbours of node i are Ends[Starts[i]:Starts[i+1]], in rising order
	Ends       []uint32 // (E)
	Cells      []uint32 // (E, 2): accept and other of the alias tables of the nodes' weights; nil: all weights are 1
	Orders     []Order  // of the rounds
	Starters   int      // nodes that walks begin at
	FirstOrder bool     // the next node depends on the last one alone
	Directed   bool

	// What node2vec's p and q come to: the largest random number with which a step is accepted that leads back, to a neighbour
	// of the node before, or farther away; and the part of a step back that competes as so many edges more.
	Back, Near, Far, Folded, FoldedAcceptance uint32
}

// An Order maps the walks of a round to the nodes where they begin; see simd.Bijection.
type Order struct {
	Keys      [4]uint64
	Low, High uint64
}

// Bytes returns the memory of a device that the graph takes.
func (w *Walks) Bytes() int64 {
	return 8*int64(len(w.Starts)) + 4*int64(len(w.Ends)+len(w.Cells)) + 48*int64(len(w.Orders))
}
