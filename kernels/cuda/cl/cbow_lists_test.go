package cl

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/w2vcl/w2vcl/kernels/composed"
	"github.com/w2vcl/w2vcl/kernels/cuda"
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
			if seen[j] || j.piece > 0 && s.order[i-1] != (rowJob{j.row, j.piece - 1, j.pieces}) || j.pieces != piecesOfRow(s.Slots[j.row+1]-s.Slots[j.row]) {
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
			jobs += int(piecesOfRow(s.Slots[a+1] - s.Slots[a]))
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
	starts, members := c.Members()
	userStarts, users := usersOf(parts, starts, members)
	var got [40][parts]uint32
	for u := range parts {
		words := users[userStarts[u]:userStarts[u+1]]
		for i, m := range words {
			if i > 0 && words[i-1].Number >= m.Number {
				t.Fatalf("words of part %d: %v", u, words)
			}
			got[m.Number][u] = m.Times
		}
	}
	if got != times {
		t.Errorf("users %v, want %v", got, times)
	}
	for range parts {
		c.Sizes = append(c.Sizes, 1+r.Uint32N(4))
	}
	for i, m := range sized(c, members) {
		if want := (member{Number: members[i].Number, Times: members[i].Times * c.Sizes[m.Number]}); m != want {
			t.Errorf("member %v is %v with sizes, want %v", members[i], m, want)
		}
	}
	for v, weight := range weightsOf(c) {
		rows := uint32(0)
		for u, n := range times[v] {
			rows += n * c.Sizes[u]
		}
		if rows > 0 && weight != 1/float32(rows) {
			t.Errorf("word %d has the weight %v, want 1/%d", v, weight, rows)
		}
	}
}

// All parts come once with their words, the frequent ones first.
func TestFrequentFirst(t *testing.T) {
	r := freshRandom(t)
	for _, n := range []int{0, 1, 5, 1000} {
		starts := []uint32{0}
		for range n {
			starts = append(starts, starts[len(starts)-1]+r.Uint32N(200)*r.Uint32N(2))
		}
		jobs, frequent := frequentFirst(starts)
		for i, job := range jobs {
			if words := job.end - job.first; (words > 64) != (i < frequent) || 0 < i && i < frequent && words > jobs[i-1].end-jobs[i-1].first {
				t.Fatalf("number %d of %d frequent ones is of %d words", i, frequent, words)
			}
		}
		slices.SortFunc(jobs, func(a, b partsJob) int { return cmp.Compare(a.part, b.part) })
		for u, job := range jobs {
			if want := (partsJob{part: uint32(u), first: starts[u], end: starts[u+1]}); job != want {
				t.Fatalf("part %d: %+v, want %+v", u, job, want)
			}
		}
		if len(jobs) != n {
			t.Errorf("%d parts of %d", len(jobs), n)
		}
	}
}

// Every column has one device, the columns of a device begin at a sector, and with their padding they end within a row. Kernels of the
// size for so many columns have them.
func TestColumnsOf(t *testing.T) {
	for dim := 1; dim <= cuda.MaxDim; dim++ {
		for _, devices := range []int{1, 2, 4, MaxDevices} {
			next, most := 0, CBOWOptions{Dim: dim}.OwnDim(devices)
			for n := range devices {
				x := columnsOf(n, devices, dim)
				if x.first != next || x.count < 0 || x.count > 0 && x.first%8 != 0 {
					t.Fatalf("dim %d, device %d of %d: %+v", dim, n, devices, x)
				}
				quads := x.quads(dim)
				if 4*quads < x.count || 4*quads > most || x.first/4+quads > cuda.Quads(dim) && x.count > 0 {
					t.Errorf("dim %d, device %d of %d: %+v are %d quads of %d", dim, n, devices, x, quads, cuda.Quads(dim))
				}
				if size, err := cuda.KernelSize(x.count); err != nil || quads > 32*size || size <= 4 && x.count > 0 && quads <= 32*(size-1) || size == 8 && quads <= 128 {
					t.Errorf("dim %d, device %d of %d: kernels of size %d for %d quads", dim, n, devices, size, quads)
				}
				next += x.count
			}
			if next != dim {
				t.Errorf("dim %d, %d devices: %d columns", dim, devices, next)
			}
		}
	}
}
