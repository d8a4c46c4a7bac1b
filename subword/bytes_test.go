package subword

import (
	"runtime"
	"testing"
)

// Bytes is about what a graph of the rows and their gradient takes.
func TestBytes(t *testing.T) {
	r := newRand(t)
	vocabulary := manyWords(r, 2000)
	for name, o := range map[string]NetworkOptions{
		"characters":   {Filters: []int{64}},
		"lengths":      {Filters: []int{32}, Activation: Tanh, Spelling: SpellingOptions{Gram: []int{1, 2, 3}}},
		"recurrent":    {},
		"lengths, raw": {Filters: []int{48}, Raw: true, Spelling: SpellingOptions{Gram: []int{2, 3, 4}, MinCount: 1}},
	} {
		kind, least := "cnn", .8
		if name == "recurrent" {
			kind, least = name, .5 // Gorgonia uses the memory of some results again
		}
		o.Dim = 8
		e, err := NewNetwork(kind, vocabulary, o)
		if err != nil {
			t.Fatal(err)
		}
		e.Randomize(1)
		rows, gradient := e.Bytes()
		estimate := rows + gradient
		inUse := func() int64 {
			var m runtime.MemStats
			for range 3 { // machines have finalizers
				runtime.GC()
			}
			runtime.ReadMemStats(&m)
			return int64(m.HeapAlloc)
		}
		before := inUse()
		p := encoderProbe(t, r, e, 2)
		p.run(t)
		taken := inUse() - before - 6*4*int64(len(vocabulary)*o.Dim)                    // of the probe itself
		if ratio := float64(taken) / float64(estimate); ratio < least || ratio > 1.25 { // matrices are aligned to huge pages, which their ends do not fill
			t.Errorf("%s: %d bytes are in use, estimated %d: %.2f", name, taken, estimate, ratio)
		}
		runtime.KeepAlive(p)
	}
}
