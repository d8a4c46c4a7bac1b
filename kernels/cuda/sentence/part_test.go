//go:build gpu

package sentence

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/w2vcl/w2vcl/kernels/cuda"
	"github.com/w2vcl/w2vcl/kernels/cuda/cudatest"
	"github.com/w2vcl/w2vcl/sequential"
)

// newParts returns Parts that exchange by copies or by NCCL.
func newParts(t *testing.T, devices []*cuda.Device, c Options, byNCCL bool) []*Part {
	t.Helper()
	return cudatest.Join(t, devices, byNCCL, func(rank int, join func() (cudatest.Comm, error)) (*Part, error) {
		p, err := NewPart(devices[rank], c, rank, len(devices))
		if err != nil {
			return nil, err
		}
		return p, p.Join(func() (Exchange, error) { return join() })
	})
}

// Parts combine their tables as sequential.Combine does. All get the same, in pieces of any size.
func TestParts(t *testing.T) {
	for _, devices := range []int{2, 4, 8} {
		all := cudatest.OpenGroup(t, devices, devices == 4)
		testParts(t, all)
	}
}

func TestPartsByNCCL(t *testing.T) {
	devices := cudatest.OpenRanks(t, 2)
	for i, rule := range sequential.Rules() {
		testPartsOf(t, devices, rule.Name, 128, i%3, true)
	}
}

func testParts(t *testing.T, devices []*cuda.Device) {
	t.Helper()
	for i, rule := range sequential.Rules() {
		for j, dim := range []int{3, 100, 300} {
			if rule.Name == sequential.Adasum && len(devices) > 2 && dim < 100 {
				continue // as in testCombine
			}
			testPartsOf(t, devices, rule.Name, dim, (i+j)%3, false)
		}
	}
}

func testPartsOf(t *testing.T, devices []*cuda.Device, rule sequential.Rule, dim, halves int, byNCCL bool) {
	t.Helper()
	t.Run(fmt.Sprintf("%d/%s/%d/halves=%d", len(devices), rule, dim, halves), func(t *testing.T) {
		seed := cudatest.FreshSeed(t)
		r := rand.New(rand.NewPCG(seed, 1))
		c := groupOptions(t, seed, rule, 3000, dim, halves)
		parts := newParts(t, devices, c, byNCCL)
		base := randomTables(r, &c)
		base.asHalf(halves)
		trained := make([]tables, len(parts))
		for rank := range trained {
			trained[rank] = base.clone()
			trained[rank].changed(r, dim, base)
			trained[rank].asHalf(halves)
		}
		for _, words := range []int{c.Vocabulary, 37, 1} {
			atATime := len(parts) * (1 + r.IntN(9))
			got := make([]tables, len(parts))
			cudatest.OnAll(t, len(parts), func(rank int) error {
				p := parts[rank]
				if words == 37 {
					p.words = min(p.words, atATime)
				}
				err := p.SetTables(base[0], base[1])
				if err == nil { // Kernels.SetTables does not count as the start of a combination
					err = p.Kernels.SetTables(trained[rank][0], trained[rank][1])
				}
				if err == nil {
					err = p.device.Do(func() error { return p.combine(words) })
				}
				got[rank] = base.clone()
				if err == nil {
					err = p.Tables(got[rank][0], got[rank][1])
				}
				return err
			})
			want := base.clone()
			combined(rule, want, trained, words, dim)
			n := words * dim
			near(t, "W", got[0][0][:n], want[0][:n], toleranceIn(rule, halves > 1))
			near(t, "C", got[0][1][:n], want[1][:n], toleranceIn(rule, halves > 0))
			for rank := range got {
				for k := range got[rank] {
					if !slices.Equal(got[rank][k][:n], got[0][k][:n]) {
						t.Errorf("%d words: table %d of part %d differs from that of part 0", words, k, rank)
					}
					if !slices.Equal(got[rank][k][n:], trained[rank][k][n:]) {
						t.Errorf("%d words: table %d of part %d has other rows behind those", words, k, rank)
					}
				}
			}
		}
	})
}

// Parts train what a Group does whose combinations wait for training, too, and end with the same tables.
func TestPartsTrain(t *testing.T) {
	for _, devices := range []int{2, 4} {
		testPartsTrain(t, cudatest.OpenGroup(t, devices, false), false)
	}
}

func TestPartsTrainByNCCL(t *testing.T) { testPartsTrain(t, cudatest.OpenRanks(t, 2), true) }

func testPartsTrain(t *testing.T, devices []*cuda.Device, byNCCL bool) {
	t.Helper()
	seed := cudatest.FreshSeed(t)
	c := groupOptions(t, seed, sequential.Touched, 20000, 60, 0)
	c.InFlight = 1
	c.TextTokens = c.text().Tokens() // of the whole text; of a part all, but combinations wait
	start := randomTables(rand.New(rand.NewPCG(seed, 1)), &c)
	for k := range start {
		for i := range start[k] {
			start[k][i] *= .1
		}
	}
	rates := slices.Repeat([]float32{.02}, c.Epochs*(len(c.Units)-1))
	sum := func(x []float64) (sum float64) {
		for _, x := range x {
			sum += x
		}
		return sum
	}
	if err := cuda.Connect(devices); err != nil {
		t.Skip(err)
	}
	g := newGroup(t, devices, c)
	if err := g.SetTables(start[0], start[1]); err != nil {
		t.Fatal(err)
	}
	losses, pairs, err := g.Train(0, rates)
	want := start.clone()
	if err := errors.Join(err, g.Tables(want[0], want[1])); err != nil {
		t.Fatal(err)
	}
	parts := newParts(t, devices, c, byNCCL)
	loss, count, got := make([]float64, len(parts)), make([]float64, len(parts)), make([]tables, len(parts))
	cudatest.OnAll(t, len(parts), func(rank int) error {
		p := parts[rank]
		if err := p.SetTables(start[0], start[1]); err != nil {
			return err
		}
		for first := 0; first < len(rates); {
			n := min(1+first%3, len(rates)-first)
			l, c, err := p.Train(first, rates[first:first+n])
			if err != nil {
				return err
			}
			loss[rank], count[rank], first = loss[rank]+sum(l), count[rank]+sum(c), first+n
		}
		got[rank] = start.clone()
		return errors.Join(p.Settle(), p.Tables(got[rank][0], got[rank][1]))
	})
	if sum(count) != sum(pairs) {
		t.Errorf("%v pairs, a group has %v", sum(count), sum(pairs))
	}
	if math.Abs(sum(loss)-sum(losses)) > 1e-3*sum(losses) {
		t.Errorf("loss %v, that of a group is %v", sum(loss), sum(losses))
	}
	near(t, "W", got[0][0], want[0], 2e-3)
	near(t, "C", got[0][1], want[1], 2e-3)
	for rank := range got {
		for k := range got[rank] {
			if !slices.Equal(got[rank][k], got[0][k]) {
				t.Errorf("table %d of part %d differs from that of part 0", k, rank)
			}
		}
	}
}
