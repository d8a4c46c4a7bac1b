package corpus

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
)

func heapInUse() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// zipfText returns about size bytes of words with a natural distribution of
// frequencies and lengths.
func zipfText(size int) []byte {
	random := rand.New(rand.NewPCG(1, 1))
	rank := rand.NewZipf(random, 1.1, 8, 1<<18)
	var text bytes.Buffer
	for text.Len() < size {
		fmt.Fprintf(&text, "%x ", rank.Uint64()*2654435761>>12&0xfffffff>>random.IntN(2))
	}
	return text.Bytes()
}

func BenchmarkRead(b *testing.B) {
	text := zipfText(8 << 20)
	for _, test := range []struct {
		name    string
		options Options
	}{
		{"whitespace", Options{MinCount: 5}},
		{"lowercase", Options{MinCount: 5, Lowercase: true}},
		{"words", Options{MinCount: 5, Tokenizer: Words, Lowercase: true}},
		{"one-thread", Options{MinCount: 5, Threads: 1}},
	} {
		b.Run(test.name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ReadFrom(context.Background(), bytes.NewReader(text), "text", test.options); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
