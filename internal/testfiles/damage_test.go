package testfiles

import (
	"bytes"
	"errors"
	"hash/crc32"
	"math/bits"
	"math/rand/v2"
	"testing"
)

// A file with a checksum passes; one without is reported.
func TestCopies(t *testing.T) {
	file := []byte("some content of a file")
	sum := crc32.ChecksumIEEE(file)
	refused := Copies(t, file, func(file []byte) (string, error) {
		if crc32.ChecksumIEEE(file) != sum {
			return "", errors.New("damaged")
		}
		return string(file), nil
	})
	if refused == 0 {
		t.Error("no copy was refused")
	}
	spy := &recorder{TB: t}
	Copies(spy, file, func(file []byte) (string, error) { return string(file), nil })
	if spy.errors == 0 {
		t.Error("other contents were not reported")
	}
}

// A recorder counts the errors of a test.
type recorder struct {
	testing.TB
	errors int
}

func (r *recorder) Errorf(string, ...any) { r.errors++ }

func TestFlip(t *testing.T) {
	random := rand.New(rand.NewPCG(rand.Uint64(), 0))
	file := make([]byte, 1000)
	for range 200 {
		copied, flipped := flip(random, file)
		ones := 0
		for _, b := range copied {
			ones += bits.OnesCount8(b)
		}
		if len(flipped) < 1 || len(flipped) > mostBits || ones > len(flipped) || !bytes.Equal(file, make([]byte, 1000)) {
			t.Fatalf("%d bits are set, flipped are %v", ones, flipped)
		}
	}
}
