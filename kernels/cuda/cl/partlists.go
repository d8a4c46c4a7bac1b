package cl

import (
	"github.com/w2vcl/w2vcl/kernels/composed"
)

// A member is a part of a word, or a word of a part, and how often the word has the part.
type member = composed.Member

// A partJob is a piece of the words of a part to train, users[first:end]; of a noRow it is none. parts.cu
// reads it as four uint32.
type partJob struct {
	part, first, end uint32
	piece, pieces    uint16
}

// usersOfWarp is how many words of a part one warp sums up. Many parts have few words: one warp is enough.
const usersOfWarp = 64

// jobsOfParts returns the jobs of parts, tile by tile: part u has the words from number starts[u] on. Tiles of frequent parts, which read
// from L2, are spread among the others, which read from memory.
func jobsOfParts(starts []uint32) (jobs []partJob) {
	words := func(u uint32) uint32 { return starts[u+1] - starts[u] }
	var frequent []uint32
	var few []rowJob
	for u := range uint32(len(starts) - 1) {
		if words(u) > usersOfWarp {
			frequent = append(frequent, u)
		} else {
			few = append(few, rowJob{row: u, pieces: 1})
		}
	}
	many := appendTiles(nil, frequent, usersOfWarp, words)
	few = fillTile(few, 1)
	tiles := (len(many) + len(few)) / tileRows
	for n, every := 0, tiles/max(len(many)/tileRows, 1); n < tiles; n++ {
		from := &few
		if n%every == 0 && len(many) > 0 || len(few) == 0 {
			from = &many
		}
		for _, j := range (*from)[:tileRows] {
			job := partJob{part: j.row, piece: j.piece, pieces: j.pieces}
			if j.row != noRow {
				at := func(piece uint16) uint32 { return starts[j.row] + words(j.row)*uint32(piece)/uint32(j.pieces) }
				job.first, job.end = at(j.piece), at(j.piece+1)
			}
			jobs = append(jobs, job)
		}
		*from = (*from)[tileRows:]
	}
	return jobs
}

// partLists are what parts.cu reads of a composition: members have how many rows they stand for in a word.
type partLists struct {
	starts         []uint32
	members, users []member
	jobs           []partJob
	weights        []float32 // of parts in words: 1 over the number of their rows
}

func listsOf(x *composed.Composition) (l partLists) {
	l.starts, l.members = x.Members()
	parts := make([]uint32, len(l.members))
	for i, m := range l.members {
		parts[i] = m.Number
	}
	first, users := composed.Invert(l.starts, parts, x.PartCount(), func(word, place uint32) member {
		return member{Number: word, Times: l.members[l.starts[word]+place].Times}
	})
	l.users, l.jobs = users, jobsOfParts(first)
	for i := range l.members {
		l.members[i].Times *= uint32(x.Size(parts[i]))
	}
	for v := range x.Words() {
		l.weights = append(l.weights, x.Weight(uint32(v)))
	}
	return l
}
