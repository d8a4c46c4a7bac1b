package train

import (
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/w2vcl/w2vcl/internal/machine"
	"github.com/w2vcl/w2vcl/train/settings"
)

// TestRunsGiveTheirMemoryBack: after a run one collection frees all of it. Comparisons
// make many runs in one process.
func TestRunsGiveTheirMemoryBack(t *testing.T) {
	if testing.Short() {
		t.Skip("two runs of every mode")
	}
	type variant struct{ mode, subword string }
	var variants []variant
	for _, mode := range allModes() {
		variants = append(variants, variant{mode, "none"})
	}
	for _, mode := range []string{settings.ModeCL, onStretches} {
		variants = append(variants, variant{mode, "cnn"}, variant{mode, "ngram"})
	}
	for _, v := range variants {
		t.Run(v.mode+"/"+v.subword, func(t *testing.T) {
			c := smallConfig(t, v.mode)
			if v.subword != "none" {
				c = subwordConfig(t, v.mode, v.subword)
			}
			c.Corpus = writeFile(t, "text", smallText()[:len(smallText())/5]) // at this dimension each word counts
			c.Dim, c.Force = 25_000, true                                     // a table of six words takes 600 kB
			switch c.Mode {
			case settings.ModeCL:
				c.Epochs, c.Iterations, c.SharedNegatives, c.Batch = 0, 2, 4, 20 // the default of rows that are shared is many more than six
			case settings.ModeVanilla:
				c.Epochs, c.Batch = 1, 1000
			}
			const table = 600_000
			var heap, resident int64
			for i := range 2 {
				if _, err := Run(t.Context(), c, Options{NoPlan: true}, nil); err != nil {
					t.Fatal(err)
				}
				debug.FreeOSMemory() // once
				var stats runtime.MemStats
				runtime.ReadMemStats(&stats)
				if i == 0 { // what the process keeps for good
					heap, resident = int64(stats.HeapAlloc), machine.Resident()
					continue
				}
				if more := int64(stats.HeapAlloc) - heap; more > table {
					t.Fatalf("run %d left %.1f MB more than the first", i+1, float64(more)/1e6)
				}
				// Go's memory is in pieces: a table may stay resident for a while.
				if more := machine.Resident() - resident; more > 20*table {
					t.Fatalf("run %d left %.1f MB more resident than the first", i+1, float64(more)/1e6)
				}
			}
		})
	}
}
