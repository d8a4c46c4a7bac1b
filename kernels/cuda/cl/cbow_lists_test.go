package cl

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/w2vcl/w2vcl/kernels/composed"
)

func freshRandom(t *testing.T) *rand.Rand {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 1))
}

// All parts of all rows come once, the rows of most places ahead; the rows of a tile have equally many, and lie side by side.
func TestPrepare(t *testing.T) {
	r := freshRandom(t)
	s := &Stretch{}
	for _, rows := range []int{1, 7, 8, 9, 500} {
		s.Rows, s.Slots = s.Rows[:0], append(s.Slots[:0], 0)
		for a := range uint32(rows) {
			s.Rows, s.Slots = append(s.Rows, a), append(s.Slots, s.Slots[a]+1+r.Uint32N(300)*r.Uint32N(2)*r.Uint32N(2))
		}
		places := int(s.Slots[rows])
		s.Prepare()
		if most := (CBOWOptions{Rows: rows, Places: places}).mostRowJobs(); len(s.order)%tileRows != 0 || len(s.order) > most {
			t.Fatalf("%d jobs, at most %d", len(s.order), most)
		}
		seen, last := map[rowJob]bool{}, uint32(1<<31)
		for i, j := range s.order {
			if j.pieces != s.order[i/tileRows*tileRows].pieces {
				t.Fatalf("job %d has %d pieces, others of its tile have not", i, j.pieces)
			}
			if j.row == noRow {
				continue
			}
			if seen[j] || j.piece > 0 && s.order[i-1] != (rowJob{j.row, j.piece - 1, j.pieces}) || j.pieces != piecesOf(s.Slots[j.row+1]-s.Slots[j.row], samplesOfWarp) {
				t.Fatalf("job %d: %+v", i, j)
			}
			if n := s.Slots[j.row+1] - s.Slots[j.row]; n > last {
				t.Fatalf("job %d: a row of %d places behind one of %d", i, n, last)
			} else {
				last = n
			}
			seen[j] = true
		}
		jobs := 0
		for a := range rows {
			jobs += int(piecesOf(s.Slots[a+1]-s.Slots[a], samplesOfWarp))
		}
		if len(seen) != jobs {
			t.Errorf("%d jobs, want %d", len(seen), jobs)
		}
	}
}

// Users of members have how often they come, with sizes and weights of all that parts stand for.
func TestUsersOfMembers(t *testing.T) {
	r := freshRandom(t)
	const parts = 9
	c := &composed.Composition{Dim: 1, Parts: make([]float32, parts), Starts: []uint32{0}}
	var times [40][parts]uint32
	for v := range times {
		for range r.IntN(12) {
			u := r.Uint32N(parts)
			c.Symbols = append(c.Symbols, u)
			times[v][u]++
		}
		c.Starts = append(c.Starts, uint32(len(c.Symbols)))
	}
	for range parts {
		c.Sizes = append(c.Sizes, 1+r.Uint32N(4))
	}
	l := listsOf(c)
	var got, sized [40][parts]uint32
	for _, job := range l.jobs {
		for i, m := range l.users[job.first:job.end] {
			if i > 0 && l.users[job.first:][i-1].Number >= m.Number {
				t.Fatalf("words of part %d: %v", job.part, l.users[job.first:job.end])
			}
			got[m.Number][job.part] = m.Times
		}
	}
	for v, weight := range l.weights {
		rows := uint32(0)
		for _, m := range l.members[l.starts[v]:l.starts[v+1]] {
			sized[v][m.Number] = m.Times / c.Sizes[m.Number]
			rows += m.Times
		}
		if rows > 0 && weight != 1/float32(rows) {
			t.Errorf("word %d has the weight %v, want 1/%d", v, weight, rows)
		}
	}
	if got != times || sized != times {
		t.Errorf("users %v, members %v, want %v", got, sized, times)
	}
}

// All words of all parts come once, in the pieces of a tile.
func TestJobsOfParts(t *testing.T) {
	r := freshRandom(t)
	for _, n := range []int{0, 1, 5, 1000} {
		starts := []uint32{0}
		for range n {
			starts = append(starts, starts[len(starts)-1]+r.Uint32N(900)*r.Uint32N(2)*r.Uint32N(2))
		}
		jobs := jobsOfParts(starts)
		if most := mostJobs(n, int(starts[n]), usersOfWarp); len(jobs)%tileRows != 0 || len(jobs) > most {
			t.Fatalf("%d jobs, at most %d", len(jobs), most)
		}
		next := slices.Clone(starts) // the first word of each part that has not come
		for i, job := range jobs {
			if job.pieces != jobs[i/tileRows*tileRows].pieces || job.part == noRow && job.first != job.end {
				t.Fatalf("job %d: %+v", i, job)
			}
			if u := job.part; u != noRow {
				if job.first != next[u] || job.piece > 0 && job.part != jobs[i-1].part || job.pieces != piecesOf(starts[u+1]-starts[u], usersOfWarp) {
					t.Fatalf("job %d: %+v", i, job)
				}
				next[u] = job.end
			}
		}
		for u := range n {
			if next[u] != starts[u+1] {
				t.Errorf("part %d of %d ends at %d, want %d", u, n, next[u], starts[u+1])
			}
		}
	}
}
