package wordcontext

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
)

// randomTotals returns the numbers of contexts of rows words: some 0, most small, a
// few very large.
func randomTotals(rng *rand.Rand, rows int) []uint64 {
	totals := make([]uint64, rows)
	for i := range totals {
		if rng.IntN(10) > 0 {
			totals[i] = 1 + uint64(math.Exp(rng.ExpFloat64()*3))
		}
	}
	totals[rng.IntN(rows)] = 1 + rng.Uint64N(1<<30)
	return totals
}

// The mean of the lengths is l times the positives, no row has more than the maximum
// of positives, and the rows below it are as long as a power of their contexts.
func TestRowLengths(t *testing.T) {
	rng := rand.New(rand.NewPCG(rand.Uint64(), 1))
	for range 500 {
		o := Options{Contexts: 1 + rng.IntN(5000), Tempering: float64(rng.IntN(5)) / 4, Positives: math.Exp(rng.NormFloat64())}
		if rng.IntN(2) > 0 {
			o.MaxPositives = 1 + rng.IntN(20)
		}
		totals := randomTotals(rng, 1+rng.IntN(300))
		t.Run(fmt.Sprintf("%+v", o), func(t *testing.T) { checkLengths(t, totals, &o) })
	}
}

func checkLengths(t *testing.T, totals []uint64, o *Options) {
	lengths, err := rowLengths(totals, o)
	if err != nil {
		t.Fatal(err)
	}
	limit := math.Inf(1)
	if o.MaxPositives > 0 {
		limit = float64(o.MaxPositives) * float64(o.Contexts)
	}
	var sum, rows, raised float64
	var low, high float64 // c·l lies between these
	high = math.Inf(1)
	for i, n := range totals {
		length := float64(lengths[i])
		if (n == 0) != (length == 0) || length > limit {
			t.Fatalf("a row of %d contexts has %v entries", n, length)
		}
		if n == 0 {
			continue
		}
		rows++
		sum += length
		power := math.Pow(float64(n), o.Tempering)
		switch length {
		case limit:
			low = max(low, (length-0.5)/power)
		case 1:
			raised++ // the row may have been below a half
			high = min(high, 1.5/power)
		default:
			low, high = max(low, (length-0.5)/power), min(high, (length+0.5)/power)
		}
	}
	if low > high*(1+1e-12) {
		t.Errorf("lengths %v of %v are no power", lengths, totals)
	}
	want := min(limit, o.Positives*float64(o.Contexts)) * rows
	if sum > want+0.5*rows+raised+1e-6*want || sum < want-0.5*rows-1e-6*want {
		t.Errorf("%v rows have %v entries, want about %v", rows, sum, want)
	}
}

func TestRowLengthsWithoutTempering(t *testing.T) {
	totals := []uint64{0, 1, 5, 1 << 40}
	for _, o := range []Options{{Contexts: 7}, {Contexts: 7, Positives: 1}, {Contexts: 7, MaxPositives: 3}} {
		o = o.defining()
		lengths, err := rowLengths(totals, &o)
		if err != nil || fmt.Sprint(lengths) != "[7 7 7 7]" {
			t.Errorf("%+v: %v, %v", o, lengths, err)
		}
	}
	// No row has contexts.
	empty := Options{Contexts: 7, Tempering: 0.5, Positives: 2, MaxPositives: 3}
	if lengths, err := rowLengths(make([]uint64, 2), &empty); err != nil || fmt.Sprint(lengths) != "[0 0]" {
		t.Errorf("no contexts: %v, %v", lengths, err)
	}
	// Several positives without tempering: rows without contexts have no entries.
	o := Options{Contexts: 7, Positives: 2.5}
	if lengths, _ := rowLengths(totals, &o); fmt.Sprint(lengths) != "[0 18 18 18]" {
		t.Errorf("2.5 positives: %v", lengths)
	}
}

func TestTooLongRows(t *testing.T) {
	c := testCorpus(42, 20, 300, 10)
	for _, tc := range []struct {
		o    Options
		want string
	}{
		{Options{Contexts: maxContexts, Tempering: 0.5}, "row 0 of M would have"},
		{Options{Contexts: 1, Positives: maxPositives, Tempering: 1e-3}, ""},
	} {
		tc.o.Window, tc.o.Passes = 1, 1
		if m, err := Build(t.Context(), c, tc.o); tc.want == "" && err != nil || tc.want != "" && (m != nil || err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%+v: %v, want %q", tc.o, err, tc.want)
		}
	}
	many := newMatrix(3, Options{Contexts: 1})
	many.lengths = []uint32{1 << 31, 1 << 31, 1}
	if err := many.setShares(); err == nil || !strings.Contains(err.Error(), "4294967297 samples") {
		t.Errorf("too many slots: %v", err)
	}
}

// Shares and updates are those of the definition, computed with numbers of any size.
func TestSharesEqualDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(rand.Uint64(), 2))
	for range 300 {
		rows := 1 + rng.IntN(9)
		m := newMatrix(rows, Options{Contexts: 1 + rng.IntN(1<<rng.IntN(30)), Seed: rng.Uint64(), Tempering: 1})
		m.lengths = make([]uint32, rows)
		for i := range m.lengths {
			m.lengths[i] = uint32(rng.IntN(1 + maxContexts>>rng.IntN(31)))
		}
		if err := m.setShares(); err != nil {
			continue // too many slots
		}
		for range 50 {
			i, j, step := rng.IntN(rows), rng.IntN(1<<(1+rng.IntN(30))), rng.IntN(2)
			wantFirst, wantCount, wantUpdates := bigShare(m, i, j, step)
			first, count := m.Share(i, j, step)
			if first != wantFirst || count != wantCount || m.Updates(i, j) != wantUpdates {
				t.Fatalf("l %d, l_i %d, phase %d, iteration %d, step %d: share (%d, %d), %d updates; want (%d, %d), %d", m.Contexts(),
					m.lengths[i], m.phases[i], j, step, first, count, m.Updates(i, j), wantFirst, wantCount, wantUpdates)
			}
			if width := int(m.slots[i+1] - m.slots[i]); count > width || count < width-1 {
				t.Fatalf("%d slots for %d samples", width, count)
			}
		}
	}
}

func bigShare(m *Matrix, i, j, step int) (first uint64, count, updates int) {
	number := func(x int) *big.Int { return big.NewInt(int64(x)) }
	l, length, phase := number(m.Contexts()), number(m.RowLength(i)), number(int(m.phases[i]))
	reads := func(j int) *big.Int {
		x := new(big.Int).Mul(number(j), length)
		return x.Div(x.Add(x, phase), l)
	}
	start, end := reads(j), reads(j+1)
	count = int(new(big.Int).Sub(end, start).Int64())
	updates = int(end.Int64())
	if length.Cmp(l) >= 0 {
		updates = j + 1
	}
	if length.Sign() > 0 {
		half := new(big.Int).Div(length, number(2))
		start.Add(start, half.Mul(half, number(step)))
		first = start.Mod(start, length).Uint64()
	}
	return first, count, updates
}

// Phases are spread over the iterations, and each is below l.
func TestPhases(t *testing.T) {
	const l, rows = 8, 4000
	m := newMatrix(rows, Options{Contexts: l, Seed: 3})
	m.lengths = make([]uint32, rows)
	if err := m.setShares(); err != nil {
		t.Fatal(err)
	}
	counts := make([]int, l)
	for _, phase := range m.phases {
		counts[phase]++
	}
	checkCounts(t, "phases", counts)
}
