package records

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/parquet-go/parquet-go/format"
)

// The encodings of texts are read value by value: few bytes can stand for very many values or very
// long ones, so nothing is allocated for their number or length.

// plainDictionary is what older programs call RLEDictionary.
const plainDictionary format.Encoding = 2

// texts returns the next text. It is valid until the next call.
type texts func() ([]byte, error)

// newTexts returns the texts that the values of a page hold.
func newTexts(data []byte, encoding format.Encoding, dictionary *dictionary) (texts, error) {
	switch encoding {
	case format.Plain:
		return plainTexts(data), nil
	case plainDictionary, format.RLEDictionary:
		if dictionary == nil || len(data) == 0 {
			return nil, errDamaged
		}
		indices := hybrid{data: data[1:], width: uint(data[0])}
		return func() ([]byte, error) {
			i, err := indices.next()
			if err != nil {
				return nil, err
			}
			return dictionary.text(i)
		}, nil
	case format.DeltaLengthByteArray:
		lengths, data, err := newDeltas(data)
		return func() ([]byte, error) { return cut(&data, lengths) }, err
	case format.DeltaByteArray:
		return prefixedTexts(data)
	default:
		return nil, fmt.Errorf("its texts are encoded as %s, which is not read: write the file with another program", encoding)
	}
}

// plainTexts returns texts that stand behind their lengths.
func plainTexts(data []byte) texts {
	return func() ([]byte, error) {
		text, rest, err := plainText(data)
		data = rest
		return text, err
	}
}

func plainText(data []byte) (text, rest []byte, err error) {
	if len(data) < 4 || uint64(binary.LittleEndian.Uint32(data)) > uint64(len(data)-4) {
		return nil, nil, errDamaged
	}
	end := 4 + int(binary.LittleEndian.Uint32(data))
	return data[4:end], data[end:], nil
}

// prefixedTexts returns texts that begin as the text before them does. A text is no longer than all
// of the data.
func prefixedTexts(data []byte) (texts, error) {
	prefixes, data, err := newDeltas(data)
	if err != nil {
		return nil, err
	}
	suffixes, data, err := newDeltas(data)
	if err != nil {
		return nil, err
	}
	text := make([]byte, 0, len(data))
	return func() ([]byte, error) {
		n, err := prefixes.next()
		if err != nil || n < 0 || n > int64(len(text)) {
			return nil, errDamaged
		}
		suffix, err := cut(&data, suffixes)
		text = append(text[:n], suffix...)
		return text, err
	}, nil
}

// cut returns the first bytes of data, as many as the next length says, and takes them off.
func cut(data *[]byte, lengths *deltas) ([]byte, error) {
	n, err := lengths.next()
	if err != nil || n < 0 || n > int64(len(*data)) {
		return nil, errDamaged
	}
	text := (*data)[:n]
	*data = (*data)[n:]
	return text, nil
}

// A dictionary holds the texts that the pages of a row group have the numbers of.
type dictionary struct {
	data   []byte
	starts []uint32 // in data
}

// newDictionary finds the texts of a page of so many.
func newDictionary(data []byte, n int) (*dictionary, error) {
	if n > len(data)/4 {
		return nil, errDamaged
	}
	d := &dictionary{data: data, starts: make([]uint32, 0, n)}
	for rest := data; len(d.starts) < n; {
		d.starts = append(d.starts, uint32(len(data)-len(rest)))
		var err error
		if _, rest, err = plainText(rest); err != nil {
			return nil, err
		}
	}
	return d, nil
}

func (d *dictionary) text(i uint32) ([]byte, error) {
	if int64(i) >= int64(len(d.starts)) {
		return nil, errDamaged
	}
	text, _, err := plainText(d.data[d.starts[i]:])
	return text, err
}

// A hybrid reads small numbers, of which runs of one number stand as one and others are packed.
type hybrid struct {
	data   []byte
	width  uint   // bits of a number, at most 32
	run    uint64 // numbers of the run still to come
	packed bool
	at     uint   // bits of data that the run's numbers took, if they are packed
	number uint32 // of the run, if they are not
}

func (h *hybrid) next() (uint32, error) {
	if h.run == 0 {
		if err := h.begin(); err != nil {
			return 0, err
		}
	}
	h.run--
	if !h.packed {
		return h.number, nil
	}
	x := bitsAt(h.data, h.at, h.width)
	if h.at += h.width; h.run == 0 {
		h.data = h.data[h.at/8:] // a run has eight numbers, or a multiple
	}
	return uint32(x), nil
}

// begin begins the next run.
func (h *hybrid) begin() error {
	for h.run == 0 {
		header, n := binary.Uvarint(h.data)
		if n <= 0 || h.width > 32 {
			return errDamaged
		}
		h.data = h.data[n:]
		if h.run, h.packed, h.at = header>>1, header&1 == 1, 0; h.packed {
			if h.run > math.MaxInt32 || h.run*uint64(h.width) > uint64(len(h.data)) { // groups of eight
				return errDamaged
			}
			h.run *= 8
			continue
		}
		size := int(h.width+7) / 8
		if size > len(h.data) {
			return errDamaged
		}
		h.number = uint32(bitsAt(h.data, 0, 8*uint(size)))
		h.data = h.data[size:]
	}
	return nil
}

// bitsAt returns a number of width bits, at most 64, at a place in data, of which it is the lowest bit. Bits behind
// the data are 0.
func bitsAt(data []byte, at, width uint) uint64 {
	var x uint64
	for done := uint(0); done < width; {
		i, within := (at+done)/8, (at+done)%8
		if i >= uint(len(data)) {
			break
		}
		x |= uint64(data[i]>>within) << done
		done += 8 - within
	}
	return x & (1<<width - 1) // all ones for 64
}

// deltas reads numbers of the encoding DELTA_BINARY_PACKED: each is the one before it and a difference.
type deltas struct {
	data       []byte
	left       uint64 // numbers still to come
	inBlock    uint64 // of them in a miniblock, when all are there
	miniblocks uint64 // of a block
	last       int64
	first      bool // last is the next number
	least      int64
	widths     []byte // of the miniblocks still to come
	width      uint   // of the one that is read
	mini       []byte // its data
	read       uint64 // numbers of it
}

// newDeltas reads the header of numbers, and returns what stands behind them, too.
func newDeltas(data []byte) (d *deltas, rest []byte, err error) {
	var header [3]uint64
	for i := range header {
		var n int
		if header[i], n = binary.Uvarint(data); n <= 0 {
			return nil, nil, errDamaged
		}
		data = data[n:]
	}
	first, n := binary.Varint(data)
	if n <= 0 || header[1] == 0 || header[0] > 1<<20 || header[0]%header[1] != 0 || header[0]/header[1]%8 != 0 || header[0] == 0 {
		return nil, nil, errDamaged
	}
	d = &deltas{data: data[n:], left: header[2], miniblocks: header[1], inBlock: header[0] / header[1], last: first, first: true}
	behind := *d
	for left := max(d.left, 1) - 1; left > 0; left -= min(left, d.inBlock) { // the first is in the header
		if err := behind.beginMiniblock(); err != nil {
			return nil, nil, err
		}
	}
	return d, behind.data, nil
}

// beginMiniblock begins the next miniblock, and the next block before it when it is time.
func (d *deltas) beginMiniblock() error {
	if len(d.widths) == 0 {
		var n int
		if d.least, n = binary.Varint(d.data); n <= 0 || uint64(len(d.data)-n) < d.miniblocks {
			return errDamaged
		}
		d.data = d.data[n:]
		d.widths, d.data = d.data[:d.miniblocks], d.data[d.miniblocks:]
	}
	d.width, d.widths, d.read = uint(d.widths[0]), d.widths[1:], 0
	size := d.inBlock / 8 * uint64(d.width)
	if d.width > 64 || size > uint64(len(d.data)) {
		return errDamaged
	}
	d.mini, d.data = d.data[:size], d.data[size:]
	return nil
}

func (d *deltas) next() (int64, error) {
	if d.left == 0 {
		return 0, errDamaged
	}
	d.left--
	if d.first {
		d.first, d.read = false, d.inBlock
		return d.last, nil
	}
	if d.read == d.inBlock {
		if err := d.beginMiniblock(); err != nil {
			return 0, err
		}
	}
	d.last += d.least + int64(bitsAt(d.mini, uint(d.read)*d.width, d.width))
	d.read++
	return int64(int32(d.last)), nil // the differences of lengths wrap around
}
