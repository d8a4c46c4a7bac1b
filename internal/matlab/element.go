package matlab

import (
	"bytes"
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

// An element is the data of a tag, to be read number by number.
type element struct {
	tag
	*elements
	width  int // bytes of a number; 0: it does not hold numbers
	number func([]byte) float64
	buffer []byte // numbers that are read ahead
	next   []byte // those of them that were not handed out
	left   int    // numbers that are still in the file
}

// element begins to read the next element. Its size, of which a damaged or hostile
// tag may tell anything, takes no memory.
func (e *elements) element() (*element, error) {
	t, err := e.tag()
	if err != nil {
		return nil, err
	}
	x := &element{tag: t, elements: e}
	x.width, x.number = e.decoder(t.kind)
	if x.width > 0 {
		if t.size%uint32(x.width) != 0 {
			return nil, fmt.Errorf("%d bytes do not divide into numbers of %d bytes", t.size, x.width)
		}
		x.left = int(t.size) / x.width
	}
	if t.small != nil {
		x.next, x.left = t.small, 0
	}
	return x, nil
}

// count is the number of numbers of an element that was not read yet.
func (x *element) count() int { return x.left + len(x.next)/max(x.width, 1) }

// bufferedNumbers are read at a time.
const bufferedNumbers = 4096

// read returns the next number. The caller knows that there is one.
func (x *element) read() (float64, error) {
	if len(x.next) == 0 {
		if err := x.fill(); err != nil {
			return 0, err
		}
	}
	value := x.number(x.next)
	x.next = x.next[x.width:]
	return value, nil
}

// fill reads the next numbers ahead.
func (x *element) fill() error {
	n := min(x.left, bufferedNumbers)
	if x.buffer == nil {
		x.buffer = make([]byte, n*x.width)
	}
	x.next = x.buffer[:n*x.width]
	if _, err := io.ReadFull(x.r, x.next); err != nil {
		return early(err)
	}
	x.left -= n
	return nil
}

var zeros [8 * bufferedNumbers]byte

// skipZeros passes over numbers that are zero, many at a time, and returns how many.
func (x *element) skipZeros() (count int, err error) {
	for len(x.next) == 0 && x.left > 0 {
		if err := x.fill(); err != nil {
			return count, err
		}
		if !bytes.Equal(x.next, zeros[:len(x.next)]) {
			break
		}
		count += len(x.next) / x.width
		x.next = nil
	}
	return count, nil
}

// end goes to the end of an element whose data were read. Elements begin at multiples
// of eight bytes; the last may lack its padding.
func (x *element) end() error {
	if x.small != nil {
		return nil
	}
	_, err := io.CopyN(io.Discard, x.r, int64(-x.size%8))
	if err == io.EOF {
		err = nil
	}
	return err
}

// early is the error of data that end before their tag says so.
func early(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// text reads the next element as a text of at most so many bytes.
func (e *elements) text(most uint32) (string, error) {
	x, err := e.element()
	if err != nil {
		return "", err
	}
	if x.size > most {
		return "", fmt.Errorf("a name has %d bytes", x.size)
	}
	data := x.small
	if data == nil {
		data = make([]byte, x.size)
		if _, err := io.ReadFull(e.r, data); err != nil {
			return "", early(err)
		}
	}
	return string(data), x.end()
}

// numbers begins to read the next element, of numbers of any type. Whole numbers
// beyond 2^53 are rounded.
func (e *elements) numbers() (*element, error) {
	x, err := e.element()
	if err == nil && x.width == 0 {
		err = fmt.Errorf("an element of kind %d does not hold numbers", x.kind)
	}
	return x, err
}

// few reads the next element as at most so many numbers.
func (e *elements) few(most int) ([]float64, error) {
	x, err := e.numbers()
	if err != nil {
		return nil, err
	}
	if x.count() > most {
		return nil, fmt.Errorf("an array has %d flags or dimensions", x.count())
	}
	values := make([]float64, x.count())
	for i := range values {
		if values[i], err = x.read(); err != nil {
			return nil, err
		}
	}
	return values, x.end()
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
