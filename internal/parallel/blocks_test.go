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

// TestBlocks: blocks come in order whichever is made first, then the rest or the error.
func TestBlocks(t *testing.T) {
	rng := rand.New(rand.NewPCG(rand.Uint64(), 1))
	bad := errors.New("bad")
	for _, threads := range []int{0, 1, 2, 9} {
		for _, ending := range []error{io.EOF, bad, nil} {
			blocks := make([]string, rng.IntN(50))
			for i := range blocks {
				blocks[i] = strings.Repeat(string(rune('a'+i%26)), rng.IntN(9)) // some are empty
			}
			n := 0
			b := NewBlocks(threads, func() (func() Block, io.Reader, error) {
				if n == len(blocks) {
					if ending != nil {
						return nil, nil, ending
					}
					return nil, strings.NewReader("the rest"), nil
				}
				text := blocks[n]
				n++
				split := n%2 == 0
				pause := time.Duration(n%3) * time.Microsecond
				return func() Block {
					time.Sleep(pause)
					if half := len(text) / 2; split { // too much to make at once
						return Block{Data: []byte(text[:half]), Rest: strings.NewReader(text[half:])}
					}
					return Block{Data: []byte(text)}
				}, nil, nil
			})
			got, err := io.ReadAll(b)
			want := strings.Join(blocks, "")
			if ending == nil {
				want += "the rest"
			}
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
	b := NewBlocks(4, func() (func() Block, io.Reader, error) {
		n++
		number := n
		return func() Block {
			if number == 3 {
				return Block{Data: []byte("la"), Rest: strings.NewReader("st"), Err: bad}
			}
			return Block{Data: []byte{byte('0' + number)}}
		}, nil, nil
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
	// A rest is closed, whether it was read or not.
	for _, read := range []bool{false, true} {
		rest := &closeCounter{Reader: strings.NewReader("rest")}
		b := NewBlocks(2, func() (func() Block, io.Reader, error) { return nil, rest, nil })
		if read {
			if got, err := io.ReadAll(b); string(got) != "rest" || err != nil {
				t.Errorf("%q, %v", got, err)
			}
		}
		if err := b.Close(); err != nil || rest.closed != 1 {
			t.Errorf("closed %d times, %v", rest.closed, err)
		}
	}
}

type closeCounter struct {
	io.Reader
	closed int
}

func (c *closeCounter) Close() error {
	c.closed++
	return nil
}
