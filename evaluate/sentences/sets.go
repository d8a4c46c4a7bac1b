package sentences

import (
	"context"
	"fmt"
)

// Sets are the sets of sentences that [Score] finds.
type Sets struct {
	Names []string // with their numbers of sentences
	Notes []string // which sets it passes over: those that are there twice or lack a part
}

// FindSets finds the sets of a folder, or the one of a file.
func FindSets(ctx context.Context, path string) (Sets, error) {
	found, _, notes, err := find(ctx, path)
	all := Sets{Notes: notes}
	for i := range found {
		s := &found[i]
		all.Names = append(all.Names, fmt.Sprintf("%s, %d sentences", s.Name, len(s.Training)+len(s.Dev)+len(s.Test)))
	}
	return all, err
}

// bytes is about the memory of a network and its training on sentences of up to so many words.
func (c *networkOptions) bytes(batch, longest int) int64 {
	b, n, h := int64(batch), int64(c.Dim+1), int64(units)
	if c.Recurrent {
		// Of each word: its vector; 50 states in the graph, with gradients; and what it adds to the
		// gradients, those of R and X. Measured for dimensions from 50 to 300 and 20 to 200 words.
		return 4 * int64(min(longest, mostWords)) * (50*b*h + (7*h+b)*n)
	}
	values := int64(0)
	for _, width := range widths {
		layer := convolution{width: width, places: c.Places}
		windows, size := b*int64(max(longest-width+1, 1)), int64(layer.size(c.Dim))
		const parameters = 6 // values, gradient, moments, the best ones, and Gorgonia's copy
		values += windows*(size+filters) + parameters*filters*size
	}
	return 4 * values
}
