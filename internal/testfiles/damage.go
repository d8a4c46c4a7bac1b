// Package testfiles has what tests of files share: damaged copies ([Copies]), and temporary folders in memory
// ([InMemory]).
package testfiles

import (
	"bytes"
	"math/rand/v2"
	"os"
	"reflect"
	"runtime/debug"
	"strconv"
	"testing"
)

// copiesVariable is the environment variable with the number of copies of each file.
const copiesVariable = "W2VCL_DAMAGED_COPIES"

// copies is the number without the variable.
const copies = 40

// mostBits is the most bits that are flipped in a copy.
const mostBits = 8

// Copies reads many copies of a file, in each of which 1 to 8 random bits are
// flipped: a copy is refused, or it is read as what was written. It reports those that read accepts with another content than that of the
// file. It returns how many were refused.
func Copies[T any](t testing.TB, file []byte, read func(file []byte) (T, error)) (refused int) {
	t.Helper()
	defer debug.SetGCPercent(debug.SetGCPercent(1000)) // a copy leaves all that was read of it, and little else is in use
	want, err := read(file)
	if err != nil {
		t.Fatalf("the file itself is refused: %v", err)
	}
	n := copies
	if text := os.Getenv(copiesVariable); text != "" {
		if n, err = strconv.Atoi(text); err != nil {
			t.Fatalf("%s: %v", copiesVariable, err)
		}
	}
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	for range n {
		copied, flipped := flip(random, file)
		got, err := read(copied)
		if err != nil {
			refused++
			continue
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("seed %d: with the bits %v flipped the file is read with another content", seed, flipped)
		}
	}
	return refused
}

// flip returns a copy with a few flipped bits, and their numbers.
func flip(random *rand.Rand, file []byte) (copied []byte, flipped []int) {
	copied = bytes.Clone(file)
	for range 1 + random.IntN(mostBits) {
		bit := random.IntN(8 * len(file))
		copied[bit/8] ^= 1 << (bit % 8)
		flipped = append(flipped, bit)
	}
	return copied, flipped
}
