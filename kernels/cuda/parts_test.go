//go:build gpu

package cuda

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestParts needs no GPU: all values go and come back, in parts of whole groups, whatever their number and that of the slots. An error of
// a copy ends the work.
func TestParts(t *testing.T) {
	for range 200 {
		each := 1 + rand.IntN(5)
		length := each * (1 + rand.IntN(7))
		n := each * rand.IntN(60)
		p := &parts[uint32]{memory: make([]uint32, max(1, rand.IntN(6))*length), n: n, length: length}
		sent, there, back := make([]uint32, n), make([]uint32, n), make([]uint32, n)
		for i := range sent {
			sent[i] = rand.Uint32()
		}
		whole := func(part []uint32, first int) {
			if len(part) == 0 || len(part)%each != 0 || len(part) > length || first%each != 0 {
				t.Errorf("%d values in groups of %d: part of %d at %d", n, each, len(part), first)
			}
		}
		err := errors.Join(
			p.send(func(part []uint32, first int) { whole(part, first); copy(part, sent[first:]) },
				func(part []uint32, first int) error { copy(there[first:], part); return nil }),
			p.receive(func(part []uint32, first int) error { copy(part, there[first:]); return nil },
				func(part []uint32, first int) { whole(part, first); copy(back[first:], part) }))
		if err != nil || !slices.Equal(there, sent) || !slices.Equal(back, sent) {
			t.Fatalf("%d values in groups of %d, parts of %d, memory of %d: %v", n, each, length, len(p.memory), err)
		}
		if n == 0 {
			continue
		}
		bad, calls := errors.New("bad"), 0
		failing := func(part []uint32, first int) error {
			if calls++; calls == 1+(n-1)/length/2 {
				return bad
			}
			return nil
		}
		if err := p.send(func([]uint32, int) {}, failing); !errors.Is(err, bad) {
			t.Errorf("sending: %v", err)
		}
		calls = 0
		if err := p.receive(failing, func([]uint32, int) {}); !errors.Is(err, bad) {
			t.Errorf("receiving: %v", err)
		}
	}
}
