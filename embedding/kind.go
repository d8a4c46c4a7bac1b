package embedding

import (
	"bytes"
	"strconv"
)

// IsVectors reports whether a file that begins so may be one of vectors, in any format
// that [Save] writes. head should have some kilobytes, or be the whole file.
func IsVectors(head []byte) bool {
	f, err := detect(newInput(bytes.NewReader(head), 0).Reader)
	if err != nil || f != GloVe {
		return err == nil
	}
	line, _, whole := bytes.Cut(head, []byte("\n")) // detect takes any text for GloVe's
	fields := bytes.Fields(line)
	if len(fields) < 2 {
		return false
	}
	numbers := fields[1:]
	if !whole { // the last number may be cut
		numbers = numbers[:len(numbers)-1]
	}
	for _, number := range numbers {
		if _, err := strconv.ParseFloat(string(number), 32); err != nil {
			return false
		}
	}
	return true
}
