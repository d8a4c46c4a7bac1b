package composed

// Invert turns lists of symbols round: list i is symbols[starts[i]:starts[i+1]], and symbol u, below n, stands in the lists of
// users[first[u]:first[u+1]], in their order, as often as it stands there. of says what is kept of a list and the place there.
func Invert[T any](starts, symbols []uint32, n int, of func(list, place uint32) T) (first []uint32, users []T) {
	first, users = make([]uint32, n+1), make([]T, len(symbols))
	for _, u := range symbols {
		first[u+1]++
	}
	for u := range n {
		first[u+1] += first[u]
	}
	next := append([]uint32(nil), first...)
	for i, begin := range starts[:len(starts)-1] {
		for place, u := range symbols[begin:starts[i+1]] {
			users[next[u]] = of(uint32(i), uint32(place))
			next[u]++
		}
	}
	return first, users
}

// ListOf keeps the list of a symbol, for Invert.
func ListOf(list, _ uint32) uint32 { return list }

// Users returns the words of each part g, users[first[g]:first[g+1]], each as often as it has the part.
func (c *Composition) Users() (first, users []uint32) {
	return Invert(c.Starts, c.Symbols, c.PartCount(), ListOf)
}

// A Member is a part of a word, or a word of a part, and how often the word has the part.
type Member struct{ Number, Times uint32 }

// Members lists the parts of each word, each of them once.
func (c *Composition) Members() (starts []uint32, members []Member) {
	starts = []uint32{0}
	place := make([]uint32, c.PartCount()) // of a part behind the word's first member, and 1
	for word := range c.Words() {
		from := len(members)
		for _, g := range c.Of(uint32(word)) {
			if place[g] == 0 {
				members = append(members, Member{Number: g})
				place[g] = uint32(len(members) - from)
			}
			members[from+int(place[g])-1].Times++
		}
		for _, m := range members[from:] {
			place[m.Number] = 0
		}
		starts = append(starts, uint32(len(members)))
	}
	return starts, members
}
