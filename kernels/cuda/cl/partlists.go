package cl

import (
	"cmp"
	"slices"

	"github.com/w2vcl/w2vcl/kernels/composed"
)

// A member is a part of a word, or a word of a part, and how often the word has the part.
type member = composed.Member

// usersOf lists the words of each of some parts, from the members of the words.
func usersOf(parts int, starts []uint32, members []member) (userStarts []uint32, users []member) {
	numbers := make([]uint32, len(members))
	for i, m := range members {
		numbers[i] = m.Number
	}
	return composed.Invert(starts, numbers, parts, func(word, place uint32) member {
		return member{Number: word, Times: members[starts[word]+place].Times}
	})
}

// A partsJob is a frequent part, which a thread block trains, or a few parts, which a warp trains: those of order[place:place+parts]. Their
// words are users[first:first+words].
type partsJob struct{ first, words, place, parts uint32 }

const (
	lanes     = 32 // of a warp
	timesBits = 27 // of a user's times, below the number of the part in its job; as in parts.cu
)

// partsJobs returns the jobs of the parts in order, of so many parts at most, and their users.
func partsJobs(most int, order []uint32, frequent int, userStarts []uint32, users []member) (jobs []partsJob, inOrder []member) {
	for i, u := range order {
		words := users[userStarts[u]:userStarts[u+1]]
		if last := len(jobs) - 1; i <= frequent || int(jobs[last].parts) == most || int(jobs[last].words)+len(words) > lanes {
			jobs = append(jobs, partsJob{first: uint32(len(inOrder)), place: uint32(i)})
		}
		job := &jobs[len(jobs)-1]
		for _, m := range words {
			inOrder = append(inOrder, member{Number: m.Number, Times: m.Times | job.parts<<timesBits})
		}
		job.words, job.parts = job.words+uint32(len(words)), job.parts+1
	}
	return jobs, inOrder
}

// frequentFirst returns the parts in the order of their jobs. So many come first, the most frequent
// ahead, because they are in more words than one warp should sum. Part u has the words from number userStarts[u] on.
func frequentFirst(userStarts []uint32) (order []uint32, frequent int) {
	const few = 64
	words := func(u uint32) uint32 { return userStarts[u+1] - userStarts[u] }
	var others []uint32
	for u := range uint32(len(userStarts) - 1) {
		if words(u) > few {
			order = append(order, u)
		} else {
			others = append(others, u)
		}
	}
	slices.SortStableFunc(order, func(a, b uint32) int { return cmp.Compare(words(b), words(a)) })
	return append(order, others...), len(order)
}

// sized returns members whose times count the rows that parts stand for.
func sized(c *composed.Composition, members []member) (all []member) {
	for _, m := range members {
		all = append(all, member{Number: m.Number, Times: m.Times * uint32(c.Size(m.Number))})
	}
	return all
}

// weightsOf returns 1 over the number of rows of each word.
func weightsOf(c *composed.Composition) (weights []float32) {
	for v := range c.Words() {
		weights = append(weights, c.Weight(uint32(v)))
	}
	return weights
}
