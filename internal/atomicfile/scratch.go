package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
)

// A Scratch is a file for what does not fit into memory. Nobody else sees it: it has no
// name where the system allows that, and otherwise goes when it is closed.
type Scratch struct {
	dir    string
	file   *os.File
	size   atomic.Int64
	remove func() error
}

// NewScratch makes a scratch file in a folder.
func NewScratch(dir string) (*Scratch, error) {
	f, err := begin(dir, "scratch")
	if err != nil {
		return nil, fmt.Errorf("cannot make a temporary file in %s: %w", dir, err)
	}
	s := &Scratch{dir: dir, file: f}
	remove := func() error { return end(f) }
	if remove() != nil { // the system removes no open files
		s.remove = sync.OnceValue(remove)
	}
	return s, nil
}

// Append writes bytes behind all others and returns where they are. Goroutines may call it
// at the same time.
func (s *Scratch) Append(b []byte) (offset int64, err error) {
	offset = s.size.Add(int64(len(b))) - int64(len(b))
	if _, err := s.file.WriteAt(b, offset); err != nil {
		return 0, fmt.Errorf("cannot write a temporary file in %s, after %d bytes: %w", s.dir, offset, errors.Unwrap(err))
	}
	return offset, nil
}

// ReadAt fills b with the bytes at offset.
func (s *Scratch) ReadAt(b []byte, offset int64) error {
	if _, err := s.file.ReadAt(b, offset); err != nil {
		return fmt.Errorf("cannot read a temporary file in %s at byte %d: %w", s.dir, offset, err)
	}
	return nil
}

// Reader returns a reader of all bytes that were written.
func (s *Scratch) Reader() io.Reader { return io.NewSectionReader(s.file, 0, s.size.Load()) }

// Close removes the file.
func (s *Scratch) Close() error {
	err := s.file.Close()
	if s.remove != nil {
		err = errors.Join(err, s.remove())
	}
	return err
}
