package records

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// A compact reads structures of Thrift's compact protocol, in which parquet files describe themselves.
// Package parquet allocates what a length says and descends as deep as a structure goes, so that a
// damaged or hostile file could end the program. Here a length is at most what is left of the input.
type compact struct {
	in   *bufio.Reader
	left int64 // bytes of the input
	made int64 // about how many bytes package parquet makes of what was skipped
}

// The types of values that we read. The others are skipped.
const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftI16    = 4
	thriftI32    = 5
	thriftI64    = 6
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftMap    = 11
	thriftStruct = 12
)

// errDamaged is the error of data that contradict themselves.
var errDamaged = errors.New("the file is damaged: its data are not what its headers say")

// ReadByte implements io.ByteReader.
func (c *compact) ReadByte() (byte, error) {
	if c.left <= 0 {
		return 0, io.ErrUnexpectedEOF
	}
	b, err := c.in.ReadByte()
	c.left--
	return b, err
}

// length reads how many bytes or elements follow. Each takes a byte at least.
func (c *compact) length() (int64, error) {
	n, err := binary.ReadUvarint(c)
	if err == nil && n > uint64(max(c.left, 0)) {
		return 0, errDamaged
	}
	return int64(n), err
}

// integer reads a value of an integer type.
func (c *compact) integer() (int64, error) { return binary.ReadVarint(c) }

// fields calls visit for each field of a structure. visit reads the field's value, or skips it.
func (c *compact) fields(visit func(id int64, kind byte) error) error {
	for id := int64(0); ; {
		b, err := c.ReadByte()
		if err != nil || b == 0 {
			return err
		}
		if delta := int64(b >> 4); delta > 0 {
			id += delta
		} else if id, err = c.integer(); err != nil {
			return err
		}
		if err := visit(id, b&0xf); err != nil {
			return err
		}
	}
}

// skip reads a value that nobody asked for, at a depth of nested values.
func (c *compact) skip(kind byte, depth int) error {
	const (
		deepest   = 32
		structure = 1 << 10 // bytes, of the largest and what is made of it
	)
	if depth > deepest {
		return errDamaged
	}
	switch kind {
	case thriftTrue, thriftFalse:
		return nil
	case thriftByte:
		return c.discard(1)
	case thriftI16, thriftI32, thriftI64:
		_, err := c.integer()
		return err
	case thriftDouble:
		return c.discard(8)
	case thriftBinary:
		n, err := c.length()
		if err != nil {
			return err
		}
		return c.discard(n)
	case thriftList, thriftSet:
		_, err := c.skipList(depth)
		return err
	case thriftMap:
		return c.skipMap(depth)
	case thriftStruct:
		c.made += structure
		return c.fields(func(_ int64, kind byte) error { return c.skip(kind, depth+1) })
	}
	return fmt.Errorf("%w (type %d)", errDamaged, kind)
}

func (c *compact) discard(n int64) error {
	if n > c.left {
		return errDamaged
	}
	c.left -= n
	for n > 0 {
		skipped, err := c.in.Discard(int(min(n, 1<<20)))
		if n -= int64(skipped); err != nil {
			return err
		}
	}
	return nil
}

// skipList returns how many elements the list has.
func (c *compact) skipList(depth int) (n int64, err error) {
	head, err := c.ReadByte()
	if err != nil {
		return 0, err
	}
	if n = int64(head >> 4); n == 0xf {
		if n, err = c.length(); err != nil {
			return 0, err
		}
	}
	for range n {
		if err := c.skipElement(head&0xf, depth+1); err != nil {
			return 0, err
		}
	}
	return n, nil
}

func (c *compact) skipMap(depth int) error {
	n, err := c.length()
	if err != nil || n == 0 {
		return err
	}
	kinds, err := c.ReadByte()
	for range n {
		if err == nil {
			err = c.skipElement(kinds>>4, depth+1)
		}
		if err == nil {
			err = c.skipElement(kinds&0xf, depth+1)
		}
	}
	return err
}

// skipElement skips an element of a list or map, where a boolean value takes a byte.
func (c *compact) skipElement(kind byte, depth int) error {
	const element = 16 // bytes, of a text without letters
	c.made += element
	if kind == thriftTrue || kind == thriftFalse {
		kind = thriftByte
	}
	return c.skip(kind, depth)
}
