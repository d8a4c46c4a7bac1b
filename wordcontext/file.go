package wordcontext

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"

	"github.com/w2vcl/w2vcl/wordcontext/tiles"
)

// A matrix file holds, all little-endian:
//
//	header                 128 bytes, see below
//	contexts found         V x uint64: n_i, by row
//	context counts         V x uint64: number of times each word is a context
//	lengths                V x uint32: l_i, by row
//	stored contexts        uint16 or uint32 each, in the order of package tiles
//	checksums              uint32, CRC-32C of each MiB of the four above
//	checksum of checksums  uint32, CRC-32C
//
// The places of the rows follow from the contexts found and the lengths. A checksum
// covers every byte. The arrays are aligned for the processor, so Open uses them in
// the mapped file without a copy.
//
// In version 2 the stored contexts were in the order of the rows. Version 1 also had no
// lengths, for every row had l entries. Open reads both, too.
type header struct {
	Magic       [8]byte
	Version     uint32
	Width       uint32 // bytes of a stored context: 2 or 4
	Rows        uint64 // V
	Stored      uint64 // contexts
	Contexts    uint64 // l
	Window      uint64
	Passes      uint64
	Sample      float64
	Seed        uint64
	Fingerprint uint64 // of the corpus
	Dynamic     uint64 // 1 for dynamic windows
	FileSize    uint64

	// Version 1 has zeros here.
	Tempering    float64
	Positives    float64
	MaxPositives uint64

	GroupContexts uint32 // see tiles.New; versions 1 and 2 have zero here

	Checksum uint32 // CRC-32C of the bytes of the header before this field
}

const (
	headerSize  = 128
	fileVersion = 3
	checkedSize = 1 << 20 // bytes that share a checksum
)

var (
	// No text file starts with the first byte. Programs that take the file for
	// text change the last one.
	fileMagic  = [8]byte{0x89, 'W', '2', 'V', 'C', 'L', 'M', '\n'}
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
)

// IsMatrix reports whether a file that begins so is a matrix file, perhaps a damaged
// one.
func IsMatrix(head []byte) bool { return bytes.HasPrefix(head, fileMagic[:]) }

// Open wraps one of these errors if it refuses a file.
var (
	ErrNotMatrix = errors.New("this is not a matrix file of w2vcl")
	ErrVersion   = errors.New("another version of w2vcl wrote this matrix file")
	ErrTruncated = errors.New("this matrix file has the wrong length: it was not copied or written completely")
	ErrCorrupt   = errors.New("this matrix file is damaged")
)

// header returns the header of a file whose groups end after so many contexts.
func (m *Matrix) header(groupContexts uint64) header {
	o := &m.options
	h := header{
		Magic: fileMagic, Version: fileVersion, Width: uint32(idBytes(m.Rows())),
		Rows: uint64(m.Rows()), Stored: m.Stored(), Contexts: uint64(o.Contexts),
		Window: uint64(o.Window), Passes: uint64(o.Passes), Sample: o.Sample, Seed: o.Seed,
		Fingerprint: m.fingerprint,
		Tempering:   o.Tempering, Positives: o.Positives, MaxPositives: uint64(o.MaxPositives),
		GroupContexts: uint32(groupContexts),
	}
	if o.DynamicWindow {
		h.Dynamic = 1
	}
	h.FileSize, _ = h.size()
	return h
}

// options returns the options in the header.
func (h *header) options() Options {
	return Options{
		Window: int(h.Window), Contexts: int(h.Contexts), Sample: h.Sample, Passes: int(h.Passes),
		Tempering: h.Tempering, Positives: h.Positives, MaxPositives: int(h.MaxPositives),
		DynamicWindow: h.Dynamic == 1, Seed: h.Seed,
	}
}

// bodySize returns the bytes of the arrays, 0 if no file can hold them.
func (h *header) bodySize() uint64 {
	const limit = math.MaxInt64 / 64 // nothing below overflows
	if h.Rows > limit || h.Stored > limit {
		return 0
	}
	return 16*h.Rows + h.lengthsSize() + uint64(h.Width)*h.Stored
}

// lengthsSize returns the bytes of the lengths.
func (h *header) lengthsSize() uint64 {
	if h.Version == 1 {
		return 0
	}
	return 4 * h.Rows
}

// size returns the bytes of the file and the number of its checksums, without the
// checksum of checksums.
func (h *header) size() (size, checksums uint64) {
	body := h.bodySize()
	checksums = (body + checkedSize - 1) / checkedSize
	return headerSize + body + 4*checksums + 4, checksums
}

// encode returns the bytes of the header, with its checksum.
func (h *header) encode() []byte {
	b := new(bytes.Buffer)
	_ = binary.Write(b, binary.LittleEndian, h) // a fixed-size struct to memory
	out := b.Bytes()
	binary.LittleEndian.PutUint32(out[headerSize-4:], crc32.Checksum(out[:headerSize-4], castagnoli))
	return out
}

// decodeHeader reads the header of a file of the given size.
func decodeHeader(data []byte, size uint64) (*header, error) {
	known := min(len(data), len(fileMagic))
	if known == 0 || !bytes.Equal(data[:known], fileMagic[:known]) {
		return nil, fmt.Errorf("%w: it starts with %q", ErrNotMatrix, data[:known])
	}
	if len(data) < headerSize {
		return nil, fmt.Errorf("%w (it has only %d bytes)", ErrTruncated, size)
	}
	h := new(header)
	_ = binary.Read(bytes.NewReader(data[:headerSize]), binary.LittleEndian, h)
	if h.Version < 1 || h.Version > fileVersion {
		return nil, fmt.Errorf("%w: it has version %d, and this w2vcl reads versions 1 to %d", ErrVersion, h.Version, fileVersion)
	}
	if h.Checksum != crc32.Checksum(data[:headerSize-4], castagnoli) {
		return nil, fmt.Errorf("%w: the checksum of its header does not match", ErrCorrupt)
	}
	if h.FileSize != size {
		return nil, fmt.Errorf("%w (it has %d bytes, not %d)", ErrTruncated, size, h.FileSize)
	}
	return h, h.check()
}

// check returns an error if Save cannot have written the header.
func (h *header) check() error {
	o := h.options()
	wants, _ := h.size()
	narrow := h.Rows <= 1<<16
	switch {
	case h.Version == 1 && (h.Tempering != 0 || h.Positives != 0 || h.MaxPositives != 0),
		(h.Version < 3) != (h.GroupContexts == 0), h.GroupContexts > tiles.MaxGroup,
		h.Rows == 0 || h.Rows > math.MaxUint32 || narrow != (h.Width == 2) || !narrow && h.Width != 4,
		h.bodySize() == 0 || wants != h.FileSize, h.Dynamic > 1:
		return fmt.Errorf("%w: its header contradicts itself", ErrCorrupt)
	}
	if err := o.check(); err != nil {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return nil
}

// checkByteOrder returns an error on a big-endian processor, since files are
// little-endian. w2vcl is built for little-endian processors only.
func checkByteOrder() error {
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		return errors.New("matrix files cannot be used on a big-endian processor")
	}
	return nil
}
