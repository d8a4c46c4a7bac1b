package joint

import (
	"slices"

	"github.com/w2vcl/w2vcl/train/cluster"
)

// uneven is how many tokens a part may have, of as many as each would have, before sentences move.
const uneven = 1.1

// Balance moves sentences between the ranks until each has about as many tokens, unless that is so already. One file of one line, or a compressed
// one, is read by one rank. All ranks call it.
func (s *Part) Balance(c cluster.Comm) error {
	counts, err := cluster.Each(c, uint64(len(s.Tokens)))
	if err != nil {
		return err
	}
	all, ranks := int(s.Stats.TokensUsed), c.Size()
	if float64(slices.Max(counts))*float64(ranks) <= uneven*float64(all) {
		return nil
	}
	tokens, lengths := make([][]uint32, ranks), make([][]uint32, ranks)
	for i := range len(s.Sentences) - 1 {
		first, end := s.Sentences[i], s.Sentences[i+1]
		rank := min(int(float64(s.FirstToken+first)/float64(all)*float64(ranks)), ranks-1)
		lengths[rank] = append(lengths[rank], uint32(end-first))
	}
	at := 0
	for rank := range ranks {
		n := 0
		for _, length := range lengths[rank] {
			n += int(length)
		}
		tokens[rank] = s.Tokens[at : at+n]
		at += n
	}
	gotTokens, err := cluster.Exchange(c, tokens)
	if err != nil {
		return err
	}
	gotLengths, err := cluster.Exchange(c, lengths)
	if err != nil {
		return err
	}
	s.Tokens, s.Sentences = slices.Concat(gotTokens...), []int{0}
	for _, length := range slices.Concat(gotLengths...) {
		s.Sentences = append(s.Sentences, s.Sentences[len(s.Sentences)-1]+int(length))
	}
	return s.findFirst(c)
}

// findFirst counts the tokens of the ranks before this one.
func (s *Part) findFirst(c cluster.Comm) error {
	counts, err := cluster.Each(c, uint64(len(s.Tokens)))
	s.FirstToken = 0
	for _, n := range counts[:c.Rank()] {
		s.FirstToken += int(n)
	}
	return err
}
