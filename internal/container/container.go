// Package container is what our own binary files have in common. Start at [Format].
//
//	header                 of fixed size, little-endian: magic, version, ..., CRC-32C of the bytes before
//	body
//	checksums              uint32, CRC-32C of each MiB of the body
//	checksum of checksums  uint32, CRC-32C
package container

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/parallel"
)

const (
	// Checked is how many bytes of a body share a checksum.
	Checked = 1 << 20

	// together is what one thread checks at a time, whole checksums and whole pieces.
	together = 6 * Checked

	// piece is what one thread reads at a time. It stays in the processor's cache, and holds
	// whole numbers of two, three or four bytes.
	piece = 192 << 10
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A Format is a kind of file.
type Format struct {
	Magic   [8]byte // no text file starts with its first byte, 0x89; programs that take the file for text change the last, '\n'
	Version uint32  // that is read and written
	Header  int     // bytes of the header, a multiple of 8

	// What errors wrap.
	ErrOther, ErrVersion, ErrTruncated, ErrCorrupt error
}

// Is reports whether a file that begins so is of the format, perhaps a damaged one.
func (f *Format) Is(head []byte) bool { return bytes.HasPrefix(head, f.Magic[:]) }

// Map maps a file, which stays open until the caller closes it: [Format.Check] reads it. The
// error is one of the system, or wraps ErrOther.
func (f *Format) Map(path string) (data []byte, file *os.File, unmap func() error, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, nil, err
	}
	if !info.Mode().IsRegular() { // to open a pipe would wait for a writer
		return nil, nil, nil, fmt.Errorf("%w: it is not a regular file", f.ErrOther)
	}
	if file, err = os.Open(path); err != nil {
		return nil, nil, nil, err
	}
	defer func() {
		if err != nil {
			file.Close()
		}
	}()
	if info, err = file.Stat(); err != nil {
		return nil, nil, nil, err
	}
	if info.Size() == 0 { // cannot be mapped
		return nil, nil, nil, fmt.Errorf("%w: it is empty", f.ErrOther)
	}
	data, unmap, err = memory.MapFile(file, info.Size())
	return data, file, unmap, err
}

// Encode returns the bytes of a header, a struct of fixed size that ends with its checksum.
func Encode(header any) []byte {
	b := new(bytes.Buffer)
	_ = binary.Write(b, binary.LittleEndian, header) // a fixed-size struct to memory
	sealHeader(b.Bytes())
	return b.Bytes()
}

func sealHeader(b []byte) {
	last := len(b) - 4
	binary.LittleEndian.PutUint32(b[last:], crc32.Checksum(b[:last], castagnoli))
}

// Decode reads the header at the start of data, of a file of so many bytes. fileSize is the
// field of the header that tells these.
func (f *Format) Decode(data []byte, size uint64, header any, fileSize *uint64) error {
	known := min(len(data), len(f.Magic))
	if known == 0 || !bytes.Equal(data[:known], f.Magic[:known]) {
		return fmt.Errorf("%w: it starts with %q", f.ErrOther, data[:known])
	}
	if len(data) < f.Header {
		return fmt.Errorf("%w (it has only %d bytes)", f.ErrTruncated, size)
	}
	_ = binary.Read(bytes.NewReader(data[:f.Header]), binary.LittleEndian, header)
	if version := binary.LittleEndian.Uint32(data[len(f.Magic):]); version != f.Version {
		return fmt.Errorf("%w: it has version %d, and this w2vcl reads version %d", f.ErrVersion, version, f.Version)
	}
	last := f.Header - 4
	if binary.LittleEndian.Uint32(data[last:]) != crc32.Checksum(data[:last], castagnoli) {
		return fmt.Errorf("%w: the checksum of its header does not match", f.ErrCorrupt)
	}
	if *fileSize != size {
		return fmt.Errorf("%w (it has %d bytes, not %d)", f.ErrTruncated, size, *fileSize)
	}
	return nil
}

// Size returns the bytes of a file with such a body.
func (f *Format) Size(body uint64) uint64 {
	return uint64(f.Header) + body + 4*((body+Checked-1)/Checked) + 4
}

// Check compares the checksums of a file with its body, on so many threads. checked, if not
// nil, is called for each piece of the body, with its place in it and aligned for every number;
// it is valid until checked returns. One goroutine reads the pieces of some MiB in order.
//
// It reads the file and not its mapping. Threads that read a mapping side by side bring pages
// back that others gave away, for systems map what a cache holds in one piece: a third of a file
// of 6 GB was resident at its end, with 24 threads.
func (f *Format) Check(file io.ReaderAt, body uint64, threads int, checked func(first int, part []byte) error) error {
	tail := make([]byte, f.Size(body)-uint64(f.Header)-body)
	if err := f.readAt(file, tail, uint64(f.Header)+body); err != nil {
		return err
	}
	sums, last := tail[:len(tail)-4], tail[len(tail)-4:]
	if crc32.Checksum(sums, castagnoli) != binary.LittleEndian.Uint32(last) {
		return fmt.Errorf("%w: the checksum of its checksums does not match", f.ErrCorrupt)
	}
	return eachPart(file, f.Header, int(body), threads, func(first, end int, found []uint32, err error) error {
		if err != nil {
			return f.unread(err)
		}
		for k, sum := range found {
			if sum != binary.LittleEndian.Uint32(sums[4*(first/Checked+k):]) {
				at := first + k*Checked
				return fmt.Errorf("%w: the checksum of the bytes %d to %d does not match", f.ErrCorrupt, f.Header+at, f.Header+min(at+Checked, end)-1)
			}
		}
		return nil
	}, checked)
}

func (f *Format) readAt(file io.ReaderAt, b []byte, at uint64) error {
	if n, err := file.ReadAt(b, int64(at)); n < len(b) {
		return f.unread(err)
	}
	return nil
}

// unread is the error of a file that was long enough when it was mapped.
func (f *Format) unread(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w (it became shorter)", f.ErrTruncated)
	}
	return err
}

// eachPart reads a body behind a header on so many threads. sums is called with the checksums
// of the bytes first ... end-1 of it, or an error. checked, which may be nil, is called for each
// piece before; its error counts if sums has none.
func eachPart(file io.ReaderAt, header, body, threads int, sums func(first, end int, sums []uint32, err error) error, checked func(first int, part []byte) error) error {
	buffers := make([][]uint64, max(threads, 1))
	return parallel.Try(context.Background(), threads, (body+together-1)/together, func(worker, task int) error {
		first, end := task*together, min((task+1)*together, body)
		if buffers[worker] == nil {
			buffers[worker] = make([]uint64, piece/8)
		}
		buffer := memory.BytesOf(buffers[worker])
		var sum Sum
		var wrong error
		for at := first; at < end; at += piece {
			part := buffer[:min(piece, end-at)]
			if n, err := file.ReadAt(part, int64(header+at)); n < len(part) {
				return sums(first, end, nil, err)
			}
			_, _ = sum.Write(part)
			if checked != nil && wrong == nil {
				wrong = checked(at, part)
			}
		}
		if err := sums(first, end, sum.sums, nil); err != nil {
			return err
		}
		return wrong
	})
}

// A Sum is an [io.Writer] that keeps the checksums of the body that is written to it.
type Sum struct {
	sums []uint32
	left int // bytes that still belong to the last checksum
}

// Write has no error.
func (s *Sum) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		if s.left == 0 {
			s.sums, s.left = append(s.sums, 0), Checked
		}
		step := min(len(p), s.left)
		last := &s.sums[len(s.sums)-1]
		*last = crc32.Update(*last, castagnoli, p[:step])
		s.left -= step
		p = p[step:]
	}
	return n, nil
}

// Tail returns what stands behind the body.
func (s *Sum) Tail() []byte { return tail(s.sums) }

func tail(sums []uint32) []byte {
	b := memory.BytesOf(sums)
	return binary.LittleEndian.AppendUint32(b[:len(b):len(b)], crc32.Checksum(b, castagnoli))
}

// Tail returns what stands behind the body of a file, which begins behind a header of so many
// bytes. It reads the file as [Format.Check] does.
func Tail(file io.ReaderAt, header, body, threads int) ([]byte, error) {
	all := make([]uint32, (body+Checked-1)/Checked)
	err := eachPart(file, header, body, threads, func(first, _ int, sums []uint32, err error) error {
		copy(all[first/Checked:], sums)
		return err
	}, nil)
	return tail(all), err
}

// Reseal sets the checksums of a file's bytes, so that a fuzzer comes past them. body returns
// the bytes of the body by the header, which may hold anything; what does not fit stays as it is.
func (f *Format) Reseal(file []byte, body func() uint64) {
	if len(file) < f.Header {
		return
	}
	sealHeader(file[:f.Header])
	if n := body(); n < uint64(len(file)) && f.Size(n) == uint64(len(file)) {
		end, err := Tail(bytes.NewReader(file), f.Header, int(n), 1)
		if err == nil {
			copy(file[uint64(f.Header)+n:], end)
		}
	}
}
