package optim

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Every entry of the table is complete, and its optimizer keeps the contract.
func TestMethods(t *testing.T) {
	seen := map[Method]bool{}
	for _, d := range Methods() {
		t.Run(string(d.Name), func(t *testing.T) {
			if d.Name == "" || d.Help == "" || d.create == nil {
				t.Fatal("the entry is not complete")
			}
			if seen[d.Name] {
				t.Error("the name is taken")
			}
			seen[d.Name] = true
			if found, err := Find(d.Name); err != nil || found.Help != d.Help {
				t.Errorf("found as %+v, %v", found, err)
			}
			testMethod(t, Options{Method: d.Name, WeightDecay: .1})
		})
	}
	if _, err := Find("lion"); err == nil {
		t.Error("an unknown method is found")
	}
}

func testMethod(t *testing.T, c Options) {
	const rows, columns = 5, 19
	start, goal := random(rows*columns), random(rows*columns)
	// train takes steps towards the goal, from the state of a break on.
	train := func(o Optimizer, w []float32, from, to int) {
		for step := from; step < to; step++ {
			o.Begin(step, .01)
			for i := range rows {
				g := make([]float32, columns)
				for j := range g {
					g[j] = w[i*columns+j] - goal[i*columns+j]
				}
				o.UpdateRow(i, w[i*columns:][:columns], g)
			}
		}
	}
	fresh := func() Optimizer {
		o, err := New(c, rows, columns)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	distance := func(w []float32) (sum float64) {
		for i, x := range w {
			sum += float64(x-goal[i]) * float64(x-goal[i])
		}
		return sum
	}

	whole, w := fresh(), slices.Clone(start)
	train(whole, w, 1, 41)
	if distance(w) > .9*distance(start) {
		t.Errorf("40 steps of descent went from distance %v to %v", distance(start), distance(w))
	}

	// The state is all there is: another optimizer goes on from it.
	first, broken := fresh(), slices.Clone(start)
	train(first, broken, 1, 20)
	second := fresh()
	for i, saved := range first.State() {
		copy(second.State()[i].Data, saved.Data)
	}
	train(second, broken, 20, 41)
	if !slices.Equal(broken, w) {
		t.Error("training that was broken off ends elsewhere")
	}

	// Zeros are its start.
	for _, s := range second.State() {
		clear(s.Data)
	}
	again := slices.Clone(start)
	train(second, again, 1, 41)
	if !slices.Equal(again, w) {
		t.Error("after its state was cleared it trains otherwise")
	}

	// Without a gradient there is weight decay alone.
	decayed := slices.Clone(start[:columns])
	o := fresh()
	o.Begin(1, .5)
	o.UpdateRow(0, decayed, make([]float32, columns))
	for i, x := range decayed {
		if want := start[i] * .95; x < want-1e-6 || x > want+1e-6 {
			t.Fatalf("value %v decays to %v, want %v", start[i], x, want)
		}
	}
}

func TestStateSize(t *testing.T) {
	for _, d := range Methods() {
		method := d.Name
		c := Options{Method: method}
		o, err := New(c, 7, 5)
		if err != nil {
			t.Fatal(err)
		}
		var bytes int64
		for _, s := range o.State() {
			bytes += int64(4 * len(s.Data))
		}
		if bytes != c.Bytes(7, 5) {
			t.Errorf("%s: state has %d bytes, Bytes says %d", method, bytes, c.Bytes(7, 5))
		}
	}
}

// A row that is trained in some of the steps, on several samples, goes where a table
// of its own goes whose steps are the row's updates, under a learning rate that
// fits the samples; to the bit.
func TestUpdateMean(t *testing.T) {
	r := rand.New(rand.NewPCG(rand.Uint64(), 1))
	for _, d := range Methods() {
		for _, columns := range []int{1, 16, 50} {
			c := Options{Method: d.Name, WeightDecay: .1, Beta1: .5, Beta2: .9} // the last steps need no correction
			table, err := New(c, 2, columns)
			if err != nil {
				t.Fatal(err)
			}
			own, err := New(c, 1, columns)
			if err != nil {
				t.Fatal(err)
			}
			every, some := random(columns), random(columns)
			want := [2][]float32{slices.Clone(every), slices.Clone(some)}
			whole, err := New(c, 1, columns)
			if err != nil {
				t.Fatal(err)
			}
			updates := 0
			for step := 1; step <= 400; step++ {
				rate := .01 / float64(step)
				g := random(columns)
				table.Begin(step, rate)
				whole.Begin(step, rate)
				table.UpdateMean(0, step, 1, every, g)
				whole.UpdateRow(0, want[0], g)
				if r.IntN(3) > 0 {
					continue
				}
				updates++
				samples := 1 + r.IntN(300)
				table.UpdateMean(1, updates, samples, some, g)
				if !d.Adaptive {
					rate *= math.Sqrt(float64(samples))
				}
				own.Begin(updates, rate)
				own.UpdateRow(0, want[1], g)
			}
			if !slices.Equal(every, want[0]) || !slices.Equal(some, want[1]) {
				t.Errorf("%s, %d columns: other bits", d.Name, columns)
			}
		}
	}
}
