//go:build gpu

package sentence

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gorgonia.org/cu"

	"github.com/w2vcl/w2vcl/kernels/cuda"
	"github.com/w2vcl/w2vcl/kernels/cuda/cudatest"
	"github.com/w2vcl/w2vcl/walk"
)

// randomGraph reads a random graph, some of whose nodes have no neighbour, or one at most.
func randomGraph(t testing.TB, r *rand.Rand, nodes, edges int, weighted, directed bool) *walk.Graph {
	var list strings.Builder
	there := map[[2]int]bool{} // an edge has one weight
	add := func(from, to int) {
		if there[[2]int{from, to}] || there[[2]int{to, from}] {
			return
		}
		there[[2]int{from, to}] = true
		fmt.Fprintf(&list, "%d %d", from, to)
		if weighted {
			fmt.Fprintf(&list, " %g", r.ExpFloat64()+.01)
		}
		list.WriteByte('\n')
	}
	for i := range nodes {
		add(i, r.IntN(1+i))
	}
	for range edges {
		add(r.IntN(1+r.IntN(nodes)), r.IntN(nodes))
	}
	path := filepath.Join(t.TempDir(), "edges.txt")
	if err := os.WriteFile(path, []byte(list.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	g, _, err := walk.Read(context.Background(), path, walk.ReadOptions{Directed: directed, Weighted: weighted})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// walksOf is what package device makes of a plan.
func walksOf(p *walk.Plan) *Walks {
	w := &Walks{
		Seed: p.Seed, Starts: p.Starts, Ends: p.Ends, Cells: p.Cells, FirstOrder: p.FirstOrder, Directed: p.Directed, Starters: p.Starters,
		Back: p.Back, Near: p.Near, Far: p.Far, Folded: p.Folded, FoldedAcceptance: p.FoldedAcceptance,
	}
	for round := range p.Rounds {
		o := p.Order(round)
		w.Orders = append(w.Orders, Order{Keys: o.Keys, Low: uint64(o.Low), High: uint64(o.High)})
	}
	return w
}

// A device walks as the CPU does, to the bit: all walks at once, or some of a unit or of several.
func TestWalks(t *testing.T) {
	d := cudatest.Open(t)
	seed := cudatest.FreshSeed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	for _, weighted := range []bool{false, true} {
		for _, directed := range []bool{false, true} {
			for _, pq := range [][2]float64{{1, 1}, {4, .25}, {.01, 1}, {.25, 4}, {1e-6, 1e6}} {
				g := randomGraph(t, r, 20+r.IntN(500), r.IntN(3000), weighted, directed)
				c, err := g.Corpus(t.Context(), walk.Options{Walks: 3, Length: 1 + r.IntN(90), P: pq[0], Q: pq[1], Seed: seed})
				if err != nil {
					t.Fatal(err)
				}
				text := c.Text()
				count := text.Sentences()
				o := Options{Vocabulary: c.Vocabulary.Len(), Text: text, Walks: walksOf(text.Source().(*walk.Plan))}
				unit := 0 // the longest
				for i := range 10 {
					first, end := count*i/10, count*(i+1)/10
					o.Units, unit = append(o.Units, first), max(unit, text.Start(end)-text.Start(first))
				}
				o.Units = append(o.Units, count)
				for _, o.TextTokens = range []int{0, 2 * unit} {
					if err := compareWalks(d, &o); err != nil {
						t.Fatalf("seed %d, weighted %t, directed %t, p and q %v, %d on the device: %v", seed, weighted, directed, pq, o.TextTokens, err)
					}
				}
			}
		}
	}
}

// compareWalks compares the text of each unit on the device with that of the host.
func compareWalks(d *cuda.Device, o *Options) error {
	return d.Do(func() error {
		n := newNumbers(o.Vocabulary)
		t, err := newText(d, o, n)
		if err != nil {
			return err
		}
		for u := range len(o.Units) - 1 {
			i, err := t.hold(u)
			if err != nil {
				return err
			}
			if err := d.Stream().Synchronize(); err != nil {
				return err
			}
			first, end := o.Text.Start(o.Units[u]), o.Text.Start(o.Units[u+1])
			got, want := make([]uint32, end-first), make([]uint32, end-first)
			if err := cuda.Receive(got, t.base(i)+cu.DevicePtr(4*first)); err != nil {
				return err
			}
			o.Text.Copy(want, first)
			if err := checkBounds(t, o, u, i); err != nil {
				return err
			}
			for k, node := range want {
				want[k] = uint32(n.number(int(node)))
			}
			if !slices.Equal(got, want) {
				return fmt.Errorf("unit %d: other walks than the CPU's", u)
			}
		}
		return t.close()
	})
}

// checkBounds checks where buffer i says that the sentences of unit u begin, and which unit they are of.
func checkBounds(t *text, o *Options, u, i int) error {
	first, end := o.Units[u], o.Units[u+1]
	starts, units := make([]uint64, end-first+1), make([]uint32, end-first)
	b := &t.buffers[i]
	err := cuda.Receive(starts, b.sentences+cu.DevicePtr(8*(first-o.Units[b.first])))
	if len(units) > 0 {
		err = errors.Join(err, cuda.Receive(units, b.unitOf+cu.DevicePtr(4*(first-o.Units[b.first]))))
	}
	for k, start := range starts {
		if int(start) != o.Text.Start(first+k) || k < len(units) && int(units[k]) != u {
			return errors.Join(err, fmt.Errorf("sentence %d begins with token %d; it should be %d", first+k, start, o.Text.Start(first+k)))
		}
	}
	return err
}

// BenchmarkWalks walks once from each of a million nodes with ten neighbours on average, 80 nodes a walk.
func BenchmarkWalks(b *testing.B) {
	d := cudatest.Open(b)
	g := randomGraph(b, rand.New(rand.NewPCG(1, 1)), 1<<20, 4<<20, false, false)
	for _, pq := range [][2]float64{{1, 1}, {4, .25}, {.25, 4}} {
		b.Run(fmt.Sprintf("p=%g/q=%g", pq[0], pq[1]), func(b *testing.B) {
			c, err := g.Corpus(b.Context(), walk.Options{Walks: 1, Length: 80, P: pq[0], Q: pq[1], Seed: 1})
			if err != nil {
				b.Fatal(err)
			}
			text := c.Text()
			err = d.Do(func() error {
				a := &cuda.Allocator{Device: d}
				sentences := cuda.PlacedParts(a, "sentences", text.Sentences()+1, func(to []uint64, first int) {
					for i := range to {
						to[i] = uint64(text.Start(first + i))
					}
				})
				tokens := a.Bytes("text", 4*text.Tokens())
				if a.Err != nil {
					return a.Err
				}
				w, err := newWalker(d, walksOf(text.Source().(*walk.Plan)))
				if err != nil {
					return err
				}
				once := func() error {
					return errors.Join(w.walk(tokens, sentences, 0, text.Sentences(), d.Stream()), d.Stream().Synchronize())
				}
				if err := once(); err != nil { // loads the kernel
					return err
				}
				b.ResetTimer()
				for range b.N {
					err = errors.Join(err, once())
				}
				return errors.Join(err, d.Free(tokens, sentences))
			})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(b.N)*float64(text.Tokens())/b.Elapsed().Seconds(), "steps/s")
		})
	}
}
