package memory

import (
	"bytes"
	"context"
	"errors"
	"io"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/internal/machine"
)

func TestRoom(t *testing.T) {
	debug.FreeOSMemory() // of tests before this one
	_, release := NewGuard(machine.Resident() + 200<<20)
	defer release()
	done, err := Room(120 << 20)
	if err != nil {
		t.Fatal(err)
	}
	// What was promised counts, though nobody has written to it.
	if _, err := Room(190 << 20); !errors.Is(err, ErrRoom) || !strings.Contains(err.Error(), "that --max-memory allows") {
		t.Errorf("the second half and more: %v", err)
	}
	if _, err := Room(unchecked - 1); err != nil {
		t.Errorf("a little: %v", err)
	}
	done()
	done() // once is enough
	if done, err = Room(190 << 20); err != nil {
		t.Errorf("when the first was given up: %v", err)
	} else {
		done()
	}
	if _, err := Room(1 << 62); !errors.Is(err, ErrRoom) {
		t.Errorf("all there is: %v", err)
	}
}

// Without a limit that was asked for, the machine's counts.
func TestRoomOfTheMachine(t *testing.T) {
	if total, _ := machine.Memory(); total == 0 {
		t.Skip("the memory of this machine is not known")
	}
	if _, err := Room(1 << 62); !errors.Is(err, ErrRoom) || strings.Contains(err.Error(), "--max-memory") {
		t.Errorf("%v", err)
	}
	done, err := Room(unchecked)
	if err != nil {
		t.Fatal(err)
	}
	done()
}

func TestGrow(t *testing.T) {
	var got []int32
	want := make([]int32, 0, 100)
	for i := range int32(100) {
		var err error
		if got, err = Append(got, i, -i); err != nil {
			t.Fatal(err)
		}
		want = append(want, i, -i)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
	_, release := NewGuard(machine.Resident() + 20<<20)
	defer release()
	if same, err := Grow(got, 1<<25); !errors.Is(err, ErrRoom) || !slices.Equal(same, got) {
		t.Errorf("more than there is: %v", err)
	}
}

func TestReader(t *testing.T) {
	content := bytes.Repeat([]byte("0123456789"), 1<<20)
	got, err := io.ReadAll(NewReader(t.Context(), bytes.NewReader(content)))
	if err != nil || !bytes.Equal(got, content) {
		t.Errorf("%d of %d bytes, %v", len(got), len(content), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	r := NewReader(ctx, bytes.NewReader(content))
	if _, err := r.Read(make([]byte, 10)); err != nil {
		t.Error(err)
	}
	cancel()
	if _, err := r.Read(make([]byte, 10)); !errors.Is(err, context.Canceled) {
		t.Errorf("when the context is done: %v", err)
	}
	_, release := NewGuard(1)
	defer release()
	if _, err := io.Copy(io.Discard, NewReader(t.Context(), bytes.NewReader(content))); !errors.Is(err, ErrRoom) {
		t.Errorf("without memory: %v", err)
	}
}

// TestMeter: many small pieces are refused when they fill the memory, and not before.
func TestMeter(t *testing.T) {
	_, release := NewGuard(Resident() + 40<<20) // without what tests before this one left to be used again
	defer release()
	var m Meter
	var pieces [][]byte
	var err error
	for err == nil && len(pieces) < 100<<10 {
		if err = m.Take(1 << 10); err == nil {
			pieces = append(pieces, bytes.Repeat([]byte{1}, 1<<10))
		}
	}
	if n := len(pieces) >> 10; !errors.Is(err, ErrRoom) || n < 20 || n > 40 {
		t.Errorf("after %d MB: %v", n, err)
	}
}
