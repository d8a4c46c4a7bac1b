package parallel

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// TestBlocks: blocks come in order whichever is made first, then the error.
func TestBlocks(t *testing.T) {
	rng := rand.New(rand.NewPCG(rand.Uint64(), 1))
	bad := errors.New("bad")
	for _, threads := range []int{0, 1, 2, 9} {
		for _, ending := range []error{io.EOF, bad} {
			blocks := make([]string, rng.IntN(50))
			for i := range blocks {
				blocks[i] = strings.Repeat(string(rune('a'+i%26)), rng.IntN(9)) // some are empty
			}
			n := 0
			b := NewBlocks(threads, func() (func() Block, error) {
				if n == len(blocks) {
					return nil, ending
				}
				text := blocks[n]
				n++
				pause := time.Duration(n%3) * time.Microsecond
				return func() Block {
					time.Sleep(pause)
					return Block{Data: []byte(text)}
				}, nil
			})
			got, err := io.ReadAll(b)
			want := strings.Join(blocks, "")
			if string(got) != want || (err != nil) != errors.Is(ending, bad) || err != nil && !errors.Is(err, bad) {
				t.Errorf("%d threads: %q, %v, want %q, %v", threads, got, err, want, ending)
			}
			if err := b.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// An error of a job comes after the blocks before it, and a closed stream ends.
func TestBlocksEnd(t *testing.T) {
	bad, n := errors.New("bad"), 0
	b := NewBlocks(4, func() (func() Block, error) {
		n++
		number := n
		return func() Block {
			if number == 3 {
				return Block{Data: []byte("last"), Err: bad}
			}
			return Block{Data: []byte{byte('0' + number)}}
		}, nil
	})
	var got bytes.Buffer
	if _, err := io.Copy(&got, b); !errors.Is(err, bad) || got.String() != "12last" {
		t.Errorf("%q, %v", got.String(), err)
	}
	for range 2 {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}
