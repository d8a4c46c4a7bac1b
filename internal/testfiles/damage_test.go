package testfiles

import (
	"errors"
	"hash/crc32"
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
