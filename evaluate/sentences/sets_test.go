package sentences

import (
	"math/rand/v2"
	"runtime"
	"testing"
)

// TestBytes: a network takes no more memory than is asked for.
func TestBytes(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	inUse := func() int64 {
		var stats runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&stats)
		return int64(stats.HeapAlloc)
	}
	for _, c := range []struct {
		dim, words int
		recurrent  bool
	}{{20, 10, true}, {100, 30, true}, {300, 20, true}, {50, 100, false}, {300, 60, false}} {
		options := networkOptions{Vectors: randomVectors(random, 20*c.dim), Dim: c.dim, Classes: 2, Threads: 2, Seed: 7, Recurrent: c.recurrent}
		all := make([]sentence, batchSize)
		for i := range all {
			all[i].Class = i % 2
			for range c.words {
				all[i].Words = append(all[i].Words, int32(random.IntN(20)))
			}
		}
		before := inUse()
		n, err := options.new(batchSize, all)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if _, err := n.train(all); err != nil {
				t.Fatal(err)
			}
		}
		took, said := inUse()-before, options.bytes(batchSize, c.words)
		if took > said+said/20 {
			t.Errorf("%+v: took %d bytes, %d were asked for", c, took, said)
		}
		if err := n.close(); err != nil {
			t.Error(err)
		}
	}
}
