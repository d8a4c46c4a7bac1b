//go:build gpu

package sentence

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/w2vcl/w2vcl/corpus/corpustest"
	"github.com/w2vcl/w2vcl/kernels/cuda"
	"github.com/w2vcl/w2vcl/kernels/cuda/cudatest"
	"github.com/w2vcl/w2vcl/sequential"
	"gorgonia.org/cu"
)

func TestCombineStructureSize(t *testing.T) {
	if size := unsafe.Sizeof(combineArgs{}); size != 200 {
		t.Errorf("CombineArgs has %d bytes, the kernels' 200", size)
	}
	if size := unsafe.Sizeof(exchangeArgs{}); size != 72 {
		t.Errorf("ExchangeArgs has %d bytes, the kernels' 72", size)
	}
}

// groupOptions is a small training of FULL-W2V with so many tables in float16: none, C, or both.
func groupOptions(t *testing.T, seed uint64, rule sequential.Rule, words, dim, halves int) Options {
	t.Helper()
	c := sequential.Options{Algorithm: sequential.FullW2V, Dim: dim, Window: 5, Negatives: 5, Epochs: 2, Seed: seed, Threads: 1}
	text, noise := corpustest.Read(t, corpustest.Zipf(seed, words, 300, 40))
	reference, err := sequential.New(text, noise, c)
	if err != nil {
		t.Fatal(err)
	}
	options := optionsOf(text, noise, c, 1)
	options.Units, options.HalfPrecision, options.HalfWords = reference.Bounds(), halves > 0, halves > 1
	number, err := rule.Number()
	if err != nil {
		t.Fatal(err)
	}
	options.Sync = Sync{Rule: string(rule), Number: number, Words: words / 4, HotWords: words / 16, Hot: 50}
	return options
}

func newGroup(t *testing.T, devices []*cuda.Device, c Options) *Group {
	t.Helper()
	g, err := NewGroup(devices, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	return g
}

// tables are W and C.
type tables [2][]float32

func randomTables(r *rand.Rand, c *Options) (x tables) {
	for k := range x {
		x[k] = cudatest.Floats(r, c.Vocabulary*c.Dim)
	}
	return x
}

func (x tables) clone() tables { return tables{slices.Clone(x[0]), slices.Clone(x[1])} }

// changed changes about half of the rows, some by what counts as rounding.
func (x tables) changed(r *rand.Rand, dim int, from tables) {
	for k := range x {
		copy(x[k], from[k])
		for row := 0; row < len(x[k]); row += dim {
			size := []float32{0, 0, 1, .01, 2e-8}[r.IntN(5)]
			for i := range dim {
				x[k][row+i] += size * float32(r.NormFloat64())
			}
		}
	}
}

// combined is what several tables become by sequential.Combine.
func combined(rule sequential.Rule, base tables, all []tables, words, dim int) {
	changes := make([][]float32, len(all))
	for k := range base {
		for w := range words {
			row := base[k][w*dim:][:dim]
			for r := range all {
				changes[r] = slices.Clone(all[r][k][w*dim:][:dim])
				for i, x := range row {
					changes[r][i] -= x
				}
			}
			sequential.Combine(rule, row, changes)
		}
	}
}

// asHalf rounds what the device has in float16.
func (x tables) asHalf(tables int) {
	for _, table := range x[2-tables:] {
		rounded := make([]uint16, len(table))
		halves(rounded, table)
		floats(table, rounded)
	}
}

// The tables of several devices are combined as by sequential.Combine. All devices get the same bits, also the second time.
func TestCombine(t *testing.T) {
	for _, devices := range []int{2, 4, 8} {
		testCombine(t, devices, false)
	}
}

// Kernels that the driver compiles do the same.
func TestCombinePortable(t *testing.T) { testCombine(t, 2, true) }

func testCombine(t *testing.T, devices int, portable bool) {
	t.Helper()
	all := cudatest.OpenGroup(t, devices, portable)
	for i, rule := range sequential.Rules() {
		for j, dim := range []int{3, 100, 128, 300, 1000} {
			halves := (i + j) % 3
			if rule.Name == sequential.Adasum && devices > 2 && dim < 100 {
				continue // of few dimensions sums of changes may cancel, and what is left is rounding
			}
			t.Run(fmt.Sprintf("%d/%s/%d/halves=%d", devices, rule.Name, dim, halves), func(t *testing.T) {
				seed := cudatest.FreshSeed(t)
				r := rand.New(rand.NewPCG(seed, 1))
				c := groupOptions(t, seed, rule.Name, 3000, dim, halves)
				g := newGroup(t, all, c)
				base := randomTables(r, &c)
				base.asHalf(halves)
				trained := make([]tables, devices)
				for d := range trained {
					trained[d] = base.clone()
					trained[d].changed(r, dim, base)
					trained[d].asHalf(halves)
				}
				for _, words := range []int{c.Vocabulary, 37, 1} {
					var first tables
					for round := range 2 {
						if err := g.SetTables(base[0], base[1]); err != nil {
							t.Fatal(err)
						}
						for d, m := range g.members {
							if err := m.SetTables(trained[d][0], trained[d][1]); err != nil {
								t.Fatal(err)
							}
						}
						g.settle(t)
						if err := g.combine(words); err != nil {
							t.Fatal(err)
						}
						g.wait(t)
						want := base.clone()
						combined(rule.Name, want, trained, words, dim)
						n := words * dim
						for d, m := range g.members {
							got := base.clone()
							if err := m.Tables(got[0], got[1]); err != nil {
								t.Fatal(err)
							}
							if d == 0 && round == 0 {
								first = got.clone()
								near(t, "W", got[0][:n], want[0][:n], toleranceIn(rule.Name, halves > 1))
								near(t, "C", got[1][:n], want[1][:n], toleranceIn(rule.Name, halves > 0))
							}
							for k := range got {
								if !slices.Equal(got[k][:n], first[k][:n]) {
									t.Errorf("round %d, device %d: table %d differs from that of device 0 in round 0", round, d, k)
								}
								if !slices.Equal(got[k][n:], trained[d][k][n:]) {
									t.Errorf("round %d, device %d: table %d has other rows behind those of %d words", round, d, k, words)
								}
							}
						}
					}
				}
			})
		}
	}
}

// toleranceOf is how far float32 may be from float64. Adasum divides by the squares of sums of changes.
func toleranceOf(rule sequential.Rule) float64 {
	if rule == sequential.Adasum {
		return 1e-4
	}
	return 2e-6
}

// toleranceIn is toleranceOf for a table that may be in float16.
func toleranceIn(rule sequential.Rule, half bool) float64 {
	if half {
		return 1e-3
	}
	return toleranceOf(rule)
}

// near is cudatest.Within, and shows some values that are not.
func near(t *testing.T, what string, got, want []float32, tolerance float64) {
	t.Helper()
	cudatest.Within(t, what, got, want, tolerance)
	if !t.Failed() {
		return
	}
	shown := 0
	for i := range got {
		if math.Abs(float64(got[i]-want[i])) > 1e-3 && shown < 8 {
			t.Logf("%s, value %d: %v, want %v", what, i, got[i], want[i])
			shown++
		}
	}
}

// settle records that all devices have trained.
func (g *Group) settle(t *testing.T) {
	t.Helper()
	if err := g.on(func(m *member) error { return m.trained.Record(m.device.Stream()) }); err != nil {
		t.Fatal(err)
	}
}

func (g *Group) wait(t *testing.T) {
	t.Helper()
	if err := g.on(func(m *member) error { return m.device.Stream().Synchronize() }); err != nil {
		t.Fatal(err)
	}
}

// Combinations beside training give the same but for rounding.
func TestCombineBeside(t *testing.T) {
	for _, devices := range []int{2, 4, 8} {
		all := cudatest.OpenGroup(t, devices, false)
		for _, rule := range sequential.Rules() {
			t.Run(fmt.Sprintf("%d/%s", devices, rule.Name), func(t *testing.T) {
				const dim = 100
				seed := cudatest.FreshSeed(t)
				r := rand.New(rand.NewPCG(seed, 1))
				c := groupOptions(t, seed, rule.Name, 3000, dim, 0)
				g := newGroup(t, all, c)
				base := randomTables(r, &c)
				if err := g.SetTables(base[0], base[1]); err != nil {
					t.Fatal(err)
				}
				want := base.clone()
				for round := range 3 {
					trained := make([]tables, devices)
					for d, m := range g.members {
						trained[d] = want.clone()
						trained[d].changed(r, dim, want)
						if err := m.SetTables(trained[d][0], trained[d][1]); err != nil {
							t.Fatal(err)
						}
					}
					combined(rule.Name, want, trained, c.Vocabulary, dim)
					err := g.on(func(m *member) error {
						if m.aside == 0 {
							return fmt.Errorf("no room beside %d in flight", m.options.InFlight)
						}
						passes := [][2]uint32{{2, 10}, {5, uint32(c.Vocabulary)}, {100, uint32(c.Vocabulary)}} // all are due
						if err := m.announce(passes); err != nil {
							return err
						}
						if err := cu.MemsetD32Async(m.Kernels.args.next, 1000, 1, m.device.Stream()); err != nil {
							return err
						}
						if err := m.ready.Record(m.device.Stream()); err != nil {
							return err
						}
						return m.combineBeside(m.args, len(passes))
					})
					if err != nil {
						t.Fatal(err)
					}
					g.wait(t)
					for d, m := range g.members {
						got := base.clone()
						if err := m.Tables(got[0], got[1]); err != nil {
							t.Fatal(err)
						}
						near(t, fmt.Sprintf("round %d, W of device %d", round, d), got[0], want[0], toleranceOf(rule.Name))
						near(t, fmt.Sprintf("round %d, C of device %d", round, d), got[1], want[1], toleranceOf(rule.Name))
						if d == 0 {
							want = got
						}
					}
					if err := g.SetTables(want[0], want[1]); err != nil {
						t.Fatal(err)
					}
				}
			})
		}
	}
}

// A group that waits for all combinations trains what its parts train alone, with sequential.Combine in between.
func TestGroup(t *testing.T) {
	for _, x := range []struct {
		devices, dim int
		rule         sequential.Rule
	}{{2, 50, sequential.Adasum}, {4, 128, sequential.Touched}, {8, 10, sequential.Mean}, {2, 300, sequential.Sum}} {
		t.Run(fmt.Sprintf("%d/%d/%s", x.devices, x.dim, x.rule), func(t *testing.T) {
			seed := cudatest.FreshSeed(t)
			all := cudatest.OpenGroup(t, x.devices, false)
			c := groupOptions(t, seed, x.rule, 20_000, x.dim, 0)
			g := newGroup(t, all, c)
			for _, m := range g.members {
				m.aside = 0
			}
			start := randomTables(rand.New(rand.NewPCG(seed, 3)), &c)
			for k := range start {
				for i := range start[k] {
					start[k][i] *= float32(.3 / math.Sqrt(float64(x.dim)))
				}
			}
			if err := g.SetTables(start[0], start[1]); err != nil {
				t.Fatal(err)
			}
			shards, err := c.Shards(x.devices)
			if err != nil {
				t.Fatal(err)
			}
			var alone []*Kernels
			for _, s := range shards {
				k, err := New(all[0], s)
				if err != nil {
					t.Fatal(err)
				}
				if err := k.SetTables(start[0], start[1]); err != nil {
					t.Fatal(err)
				}
				alone = append(alone, k)
			}
			units := alone[0].units()
			const at = 17
			for first := 0; first < units; first += at {
				rates := make([]float32, min(at, units-first))
				for i := range rates {
					rates[i] = testRate / float32(1+(first+i)/100)
				}
				losses, pairs, err := g.Train(first, rates)
				if err != nil {
					t.Fatal(err)
				}
				for i, rate := range rates {
					var loss, count float64
					trained := make([]tables, x.devices)
					for d, k := range alone {
						l, p, err := k.Train(first+i, []float32{rate})
						if err != nil {
							t.Fatal(err)
						}
						loss, count = loss+l[0], count+p[0]
						trained[d] = start.clone()
						if err := k.Tables(trained[d][0], trained[d][1]); err != nil {
							t.Fatal(err)
						}
					}
					if !(math.Abs(losses[i]-loss) <= 1e-3*loss) || pairs[i] != count {
						t.Fatalf("unit %d: loss %v of %v pairs, want %v of %v", first+i, losses[i], pairs[i], loss, count)
					}
					words := c.CombinedAfter(first + i)
					combined(x.rule, start, trained, words, x.dim)
					for d, k := range alone {
						for table := range start {
							copy(trained[d][table][:words*x.dim], start[table])
						}
						if err := k.SetTables(trained[d][0], trained[d][1]); err != nil {
							t.Fatal(err)
						}
					}
				}
			}
			got := start.clone()
			if err := g.Tables(got[0], got[1]); err != nil {
				t.Fatal(err)
			}
			near(t, "W", got[0], start[0], 2e-3)
			near(t, "C", got[1], start[1], 2e-3)
		})
	}
}

// Several devices with many sentences in flight, which combine while they train, have nearly the loss of one.
func TestGroupInFlight(t *testing.T) {
	cudatest.Open(t) // without a GPU there is nothing to prepare texts for
	for _, mode := range []sequential.Algorithm{sequential.FullW2V, sequential.PWord2Vec, sequential.Word2Vec, sequential.FullRegister, sequential.PARW2V} {
		for _, half := range []bool{false, true} {
			m := Mode(mode)
			if mode == sequential.Word2Vec {
				m = Word2Vec
			}
			if half && LimitsOf(m, true).Negatives == 0 {
				continue
			}
			t.Run(fmt.Sprintf("%s/half=%v", mode, half), func(t *testing.T) {
				c := sequential.Options{Algorithm: mode, Dim: 100, Window: 5, Negatives: 5, Sample: 1e-3, Epochs: 3, Seed: 11, Threads: 1}
				if mode == sequential.Word2Vec {
					c.Model = sequential.SkipGram
				}
				text, noise := corpustest.Read(t, corpustest.Zipf(3, 300_000, 2000, 40))
				reference, err := sequential.New(text, noise, c)
				if err != nil {
					t.Fatal(err)
				}
				options := optionsOf(text, noise, c, 0)
				options.Units, options.HalfPrecision = reference.Bounds(), half
				number, _ := sequential.Adasum.Number()
				options.Sync = Sync{Rule: string(sequential.Adasum), Number: number, Words: 50_000, HotWords: 10_000, Hot: 100}
				var one float64
				for _, devices := range []int{1, 2, 4} {
					all := cudatest.OpenGroup(t, devices, false)
					var losses, pairs []float64
					rates := slices.Repeat([]float32{testRate}, c.Epochs*(len(options.Units)-1))
					if devices == 1 {
						k, err := New(all[0], options)
						if err != nil {
							t.Fatal(err)
						}
						if err := k.SetTables(reference.Tables()); err != nil {
							t.Fatal(err)
						}
						losses, pairs, err = k.Train(0, rates)
						if err != nil {
							t.Fatal(err)
						}
					} else {
						g := newGroup(t, all, options)
						if err := g.SetTables(reference.Tables()); err != nil {
							t.Fatal(err)
						}
						losses, pairs, err = g.Train(0, rates)
						if err != nil {
							t.Fatal(err)
						}
						want := tables{make([]float32, options.Vocabulary*c.Dim), make([]float32, options.Vocabulary*c.Dim)}
						got := want.clone()
						if err := g.Tables(want[0], want[1]); err != nil {
							t.Fatal(err)
						}
						for d, m := range g.members {
							if err := m.Tables(got[0], got[1]); err != nil {
								t.Fatal(err)
							}
							if !slices.Equal(got[0], want[0]) || !slices.Equal(got[1], want[1]) {
								t.Errorf("device %d has other tables than device 0", d)
							}
						}
					}
					mean := total(losses) / total(pairs)
					last := len(losses) / 6
					tail := total(losses[len(losses)-last:]) / total(pairs[len(pairs)-last:])
					t.Logf("%d devices: loss %.5f a pair, %.5f at the end", devices, mean, tail)
					if devices == 1 {
						one = mean
					} else if !(math.Abs(mean-one) < .06*one) {
						t.Errorf("%d devices: loss %v a pair, one %v", devices, mean, one)
					}
				}
			})
		}
	}
}
