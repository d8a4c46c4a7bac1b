package sentences

import (
	"context"
	"fmt"

	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/evaluate/dataset"
)

// Sets are the sets of sentences that [Score] finds.
type Sets struct {
	Names []string // with their numbers of sentences
	Notes []string // which sets it passes over: those that are there twice or lack a part

	bytes int64 // of all sentences, as they are read
	needs []setNeed
}

// A setNeed is what the memory of a set's network depends on.
type setNeed struct {
	network networkOptions
	longest int // words of a sentence
}

// FindSets finds the sets of a folder, or the one of a file.
func FindSets(ctx context.Context, path string) (Sets, error) {
	found, _, notes, err := find(ctx, path)
	all := Sets{Notes: notes}
	for i := range found {
		s := &found[i]
		need := setNeed{network: networkOptions{Recurrent: s.Reviews, Places: s.Relations()}}
		labels := map[string]bool{}
		for _, part := range [][]dataset.Sentence{s.Training, s.Dev, s.Test} {
			for _, x := range part {
				need.longest = max(need.longest, len(x.Words))
				labels[x.Label] = true
				all.bytes += x.Bytes()
			}
		}
		need.network.Classes = len(labels)
		all.needs = append(all.needs, need)
		all.Names = append(all.Names, fmt.Sprintf("%s, %d sentences", s.Name, len(s.Training)+len(s.Dev)+len(s.Test)))
	}
	return all, err
}

// Bytes is about the memory that [Score] takes for a table of so many words and dimensions, with the table.
func (s *Sets) Bytes(words, dim int) int64 {
	most := int64(0)
	for _, n := range s.needs {
		n.network.Dim = dim
		most = max(most, n.network.bytes(batchSize, n.longest))
	}
	const scaledToo, lookup = 2, embedding.IndexBytes + 4
	return int64(words)*(scaledToo*4*int64(dim)+embedding.IndexBytes+lookup) + s.bytes + most
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
