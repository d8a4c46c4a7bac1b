package wordcontext

import (
	"errors"
	"fmt"
	"math"

	"github.com/w2vcl/w2vcl/internal/container"
)

// A matrix file holds, all little-endian:
//
//	header                 128 bytes, see below
//	contexts found         V x uint64: n_i, by row
//	context counts         V x uint64: number of times each word is a context
//	lengths                V x uint32: l_i, by row
//	stored contexts        uint16 or uint32 each, in the order of tiles.go
//	checksums              of package container
//
// The places of the rows follow from the contexts found and the lengths. A checksum
// covers every byte. The arrays are aligned for the processor, so Open uses them in
// the mapped file without a copy.
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
	Dynamic     uint32 // 1 for dynamic windows
	InOrder     uint32 // 1 for rows in the order of the text
	FileSize    uint64

	Tempering    float64
	Positives    float64
	MaxPositives uint64

	GroupContexts uint32 // see newLayout

	Checksum uint32 // CRC-32C of the bytes of the header before this field
}

const headerSize = 128

var format = container.Format{
	Magic: [8]byte{0x89, 'W', '2', 'V', 'C', 'L', 'M', '\n'}, Version: 1, Header: headerSize,
	ErrOther: ErrNotMatrix, ErrVersion: ErrVersion, ErrTruncated: ErrTruncated, ErrCorrupt: ErrCorrupt,
}

// IsMatrix reports whether a file that begins so is a matrix file, perhaps a damaged
// one.
func IsMatrix(head []byte) bool { return format.Is(head) }

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
		Magic: format.Magic, Version: format.Version, Width: uint32(idBytes(m.Rows())),
		Rows: uint64(m.Rows()), Stored: m.Stored(), Contexts: uint64(o.Contexts),
		Window: uint64(o.Window), Passes: uint64(o.Passes), Sample: o.Sample, Seed: o.Seed,
		Fingerprint: m.fingerprint,
		Tempering:   o.Tempering, Positives: o.Positives, MaxPositives: uint64(o.MaxPositives),
		GroupContexts: uint32(groupContexts),
	}
	if o.DynamicWindow {
		h.Dynamic = 1
	}
	if o.InOrder {
		h.InOrder = 1
	}
	h.FileSize = format.Size(h.bodySize())
	return h
}

func (h *header) options() Options {
	return Options{
		Window: int(h.Window), Contexts: int(h.Contexts), Sample: h.Sample, Passes: int(h.Passes),
		Tempering: h.Tempering, Positives: h.Positives, MaxPositives: int(h.MaxPositives),
		DynamicWindow: h.Dynamic == 1, InOrder: h.InOrder == 1, Seed: h.Seed,
	}
}

// bodySize returns the bytes of the arrays, 0 if no file can hold them.
func (h *header) bodySize() uint64 {
	const limit = math.MaxInt64 / 64 // nothing below overflows
	if h.Rows > limit || h.Stored > limit {
		return 0
	}
	return 20*h.Rows + uint64(h.Width)*h.Stored
}

// decodeHeader reads the header of a file of the given size.
func decodeHeader(data []byte, size uint64) (*header, error) {
	h := new(header)
	if err := format.Decode(data, size, h, &h.FileSize); err != nil {
		return nil, err
	}
	return h, h.check()
}

// check returns an error if Save cannot have written the header.
func (h *header) check() error {
	o := h.options()
	narrow := h.Rows <= 1<<16
	switch {
	case h.GroupContexts == 0, h.GroupContexts > maxGroup,
		h.Rows == 0 || h.Rows > math.MaxUint32 || narrow != (h.Width == 2) || !narrow && h.Width != 4,
		h.bodySize() == 0 || format.Size(h.bodySize()) != h.FileSize, h.Dynamic > 1, h.InOrder > 1:
		return fmt.Errorf("%w: its header contradicts itself", ErrCorrupt)
	}
	if err := o.check(); err != nil {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return nil
}
