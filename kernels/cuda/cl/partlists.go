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

// A partsJob is a part to train, whose words are users[first:end].
type partsJob struct{ part, first, end, _ uint32 }

// frequentFirst returns the jobs of parts: part u has the words from number userStarts[u] on. So many jobs come first, the most frequent
// parts ahead, because these are in more words than one warp should sum.
func frequentFirst(userStarts []uint32) (jobs []partsJob, frequent int) {
	const few = 64
	var others []partsJob
	for u := range len(userStarts) - 1 {
		job := partsJob{part: uint32(u), first: userStarts[u], end: userStarts[u+1]}
		if job.end-job.first > few {
			jobs = append(jobs, job)
		} else {
			others = append(others, job)
		}
	}
	slices.SortStableFunc(jobs, func(a, b partsJob) int { return cmp.Compare(b.end-b.first, a.end-a.first) })
	return append(jobs, others...), len(jobs)
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
