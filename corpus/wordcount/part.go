package wordcount

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/w2vcl/w2vcl/internal/textfile"
)

// Part returns part number part of parts of the text, which follow each other and have
// about as many bytes each. Files are cut at line ends. A compressed file, or one of
// records, is not cut, and a part may be empty. A pipe is an error.
func (in *Input) Part(part, parts int, records bool) (*Input, error) {
	cut, total := &Input{name: in.name}, int64(0)
	for _, s := range in.sources {
		if s.Size < 0 {
			return nil, fmt.Errorf("corpus: %s is a pipe or standard input, which several ranks cannot share: name a file, a folder, or with {rank} a text for each rank", s.Name)
		}
		total += s.Size
	}
	bound := func(k int) int64 { return int64(float64(total) * (float64(k) / float64(parts))) }
	from, to, at := bound(part), bound(part+1), int64(0)
	if part == parts-1 {
		to = total
	}
	for _, s := range in.sources {
		own, err := partOf(s, from-at, to-at, records)
		if err != nil {
			return nil, fmt.Errorf("corpus: %w", err)
		}
		cut.sources = append(cut.sources, own...)
		at += s.Size
	}
	return cut, nil
}

// partOf returns the part of a file that belongs to its bytes from ... to-1.
func partOf(s textfile.Source, from, to int64, whole bool) ([]textfile.Source, error) {
	if s.Size == 0 || from >= s.Size || to <= 0 {
		return nil, nil
	}
	f, err := os.Open(s.Name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, textfile.HeadBytes)
	n, err := f.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if whole || textfile.FormatOf(head[:n]) != "" {
		if from > 0 {
			return nil, nil // of the rank that has its first byte
		}
		return []textfile.Source{s}, nil
	}
	from, err = lineStart(f, from, s.Size)
	if err != nil {
		return nil, err
	}
	to, err = lineStart(f, to, s.Size)
	if err != nil || from == to {
		return nil, err
	}
	part := s
	part.Size = to - from
	part.Open = func() (io.ReadCloser, error) {
		f, err := os.Open(s.Name)
		if err != nil {
			return nil, err
		}
		return section{io.NewSectionReader(f, from, to-from), f}, nil
	}
	if from > 0 {
		part.Name = fmt.Sprintf("%s from byte %d on", s.Name, from)
	}
	return []textfile.Source{part}, nil
}

// A section is a part of an open file.
type section struct {
	io.Reader
	io.Closer
}

// lineStart returns where the first line begins at a byte or behind it, that does not look
// like the start of a file of another kind.
func lineStart(f io.ReaderAt, at, size int64) (int64, error) {
	if at <= 0 {
		return 0, nil
	}
	block := make([]byte, 64<<10)
	for at < size {
		n, err := f.ReadAt(block, at-1) // a line begins here if the byte before ends one
		if err != nil && err != io.EOF {
			return 0, err
		}
		end := bytes.IndexByte(block[:n], '\n')
		if end < 0 {
			if n == 0 {
				break
			}
			at += int64(n)
			continue
		}
		at += int64(end)
		if at >= size {
			break
		}
		head := make([]byte, textfile.HeadBytes)
		if n, err = f.ReadAt(head, at); err != nil && err != io.EOF {
			return 0, err
		}
		if head = head[:n]; textfile.FormatOf(head) == "" && !bytes.HasPrefix(head, []byte(textfile.ByteOrderMark)) {
			return at, nil
		}
		at++
	}
	return size, nil
}
