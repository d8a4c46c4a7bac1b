package embedding

import (
	"bytes"
	"context"
	"io"
	"strconv"
)

// HoldsVectors reports whether a file, plain or compressed, may be one that [Save] wrote.
func HoldsVectors(path string) bool {
	in, closeFile, err := open(context.Background(), path)
	if err != nil {
		return false
	}
	defer closeFile()
	head := make([]byte, 4<<10)
	n, _ := io.ReadFull(in, head) // fewer of a short file
	return IsVectors(head[:n])
}

// IsVectors reports whether a file that begins so may be one of vectors, in any format
// that [Save] writes. head should have some kilobytes, or be the whole file.
func IsVectors(head []byte) bool {
	f, err := detect(newInput(bytes.NewReader(head), 0).Reader)
	if err != nil || f != GloVe && f != Word2VecText { // detect takes any text for one of these
		return err == nil
	}
	rows := textRows{}
	text := head
	if f == Word2VecText {
		var line []byte
		line, text, _ = bytes.Cut(head, []byte("\n"))
		_, dim, _ := parseHeader(line)
		rows.dim = int(min(dim, maxDim))
	}
	line, rest, whole := bytes.Cut(text, []byte("\n"))
	if !whole {
		return isRow(line)
	}
	for ; whole; line, rest, whole = bytes.Cut(rest, []byte("\n")) {
		if line = trimLineEnd(line); len(line) == 0 || rows.add(line) != nil {
			return len(line) == 0 && len(rows.words) > 0 && len(trimLineEnd(rest)) == 0
		}
	}
	return true
}

// isRow reports whether a line that may be cut is a word and numbers.
func isRow(line []byte) bool {
	fields := bytes.Fields(line)
	if len(fields) < 2 {
		return false
	}
	for _, number := range fields[1:max(2, len(fields)-1)] { // the last one may be cut
		if _, err := strconv.ParseFloat(string(number), 32); err != nil {
			return false
		}
	}
	return true
}
