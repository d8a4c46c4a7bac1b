package matlab

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// The kinds of elements: types of numbers, and two kinds that hold other elements.
const (
	kindInt8       = 1
	kindUint8      = 2
	kindInt16      = 3
	kindUint16     = 4
	kindInt32      = 5
	kindUint32     = 6
	kindSingle     = 7
	kindDouble     = 9
	kindInt64      = 12
	kindUint64     = 13
	kindMatrix     = 14
	kindCompressed = 15
)

// An elements reader reads one element after the other.
type elements struct {
	r     io.Reader
	order binary.ByteOrder
}

// A tag begins an element. It may hold up to four bytes of data itself.
type tag struct {
	kind  uint32
	size  uint32
	small []byte // the data; nil if they follow the tag
}

// tag reads the next tag. The error at the end of the data is io.EOF.
func (e *elements) tag() (tag, error) {
	b := make([]byte, 8)
	if _, err := io.ReadFull(e.r, b); err != nil {
		return tag{}, err
	}
	first := e.order.Uint32(b)
	if size := first >> 16; size != 0 {
		if size > 4 {
			return tag{}, fmt.Errorf("a short element has %d bytes, more than 4", size)
		}
		return tag{kind: first & 0xffff, size: size, small: b[4 : 4+size]}, nil
	}
	return tag{kind: first, size: e.order.Uint32(b[4:])}, nil
}

// data reads the next element. Its memory grows with the bytes of the file, not
// with the size in a damaged tag.
func (e *elements) data() (kind uint32, data []byte, err error) {
	t, err := e.tag()
	if err != nil || t.small != nil {
		return t.kind, t.small, err
	}
	data, err = io.ReadAll(io.LimitReader(e.r, int64(t.size)))
	if err != nil {
		return 0, nil, err
	}
	if int64(len(data)) < int64(t.size) {
		return 0, nil, io.ErrUnexpectedEOF
	}
	// Elements begin at multiples of eight bytes; the last may lack its padding.
	_, err = io.CopyN(io.Discard, e.r, int64(-t.size%8))
	if err == io.EOF {
		err = nil
	}
	return t.kind, data, err
}

func (e *elements) text() (string, error) {
	_, data, err := e.data()
	return string(data), err
}

// numbers reads the next element as numbers of any type. It rounds whole numbers
// beyond 2^53.
func (e *elements) numbers() ([]float64, error) {
	kind, data, err := e.data()
	if err != nil {
		return nil, err
	}
	width, number := e.decoder(kind)
	if width == 0 {
		return nil, fmt.Errorf("an element of kind %d does not hold numbers", kind)
	}
	if len(data)%width != 0 {
		return nil, fmt.Errorf("%d bytes do not divide into numbers of %d bytes", len(data), width)
	}
	values := make([]float64, len(data)/width)
	for i := range values {
		values[i] = number(data[i*width:])
	}
	return values, nil
}

// decoder returns the bytes of one number of a kind and a function that reads it.
// The width is 0 for kinds that are not numbers.
func (e *elements) decoder(kind uint32) (width int, number func([]byte) float64) {
	o := e.order
	switch kind {
	case kindInt8:
		return 1, func(b []byte) float64 { return float64(int8(b[0])) }
	case kindUint8:
		return 1, func(b []byte) float64 { return float64(b[0]) }
	case kindInt16:
		return 2, func(b []byte) float64 { return float64(int16(o.Uint16(b))) }
	case kindUint16:
		return 2, func(b []byte) float64 { return float64(o.Uint16(b)) }
	case kindInt32:
		return 4, func(b []byte) float64 { return float64(int32(o.Uint32(b))) }
	case kindUint32:
		return 4, func(b []byte) float64 { return float64(o.Uint32(b)) }
	case kindSingle:
		return 4, func(b []byte) float64 { return float64(math.Float32frombits(o.Uint32(b))) }
	case kindDouble:
		return 8, func(b []byte) float64 { return math.Float64frombits(o.Uint64(b)) }
	case kindInt64:
		return 8, func(b []byte) float64 { return float64(int64(o.Uint64(b))) }
	case kindUint64:
		return 8, func(b []byte) float64 { return float64(o.Uint64(b)) }
	default:
		return 0, nil
	}
}
