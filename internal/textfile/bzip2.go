package textfile

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"io"
	"math/bits"

	"github.com/w2vcl/w2vcl/internal/parallel"
)

// openBzip2 decompresses the blocks of a bzip2 file side by side. A block begins with a
// magic number, at any bit; a splitter finds it, and makes a file of each block for the
// standard library. By chance the number occurs once in some 30 TB.
func openBzip2(in *bufio.Reader, threads int) (io.ReadCloser, error) {
	if threads < 2 {
		return io.NopCloser(bzip2.NewReader(in)), nil
	}
	s := &blockSplitter{in: in}
	return parallel.NewBlocks(threads, func() (func() parallel.Block, io.Reader, error) {
		file, err := s.next()
		if err != nil {
			return nil, nil, err
		}
		return func() parallel.Block {
			text := bzip2.NewReader(bytes.NewReader(file))
			start, err := io.ReadAll(io.LimitReader(text, blockText))
			return parallel.Block{Data: start, Rest: text, Err: err}
		}, nil, nil
	}), nil
}

const (
	blockMagic = 0x314159265359
	endMagic   = 0x177245385090 // of a stream; its checksum follows
	magicBits  = 48
	markBits   = magicBits + 32 // with the checksum that follows both

	blockText = 1 << 20 // bytes of text that are made of a block at once: few have more, of up to 46 MB
	mostBlock = 4 << 20 // bytes of a block compressed: 900,000 symbols of 20 bits, and tables
)

// A blockSplitter cuts a bzip2 file into blocks.
type blockSplitter struct {
	in       *bufio.Reader
	header   [4]byte // of the stream
	streams  int     // that were begun
	checksum uint32  // of the blocks of the stream so far

	// data begins with the byte in which the magic number that was found last begins,
	// at bit start.
	data  []byte
	start int
	magic uint64 // 0: a stream begins
}

// next returns a file of the next block.
func (s *blockSplitter) next() ([]byte, error) {
	for {
		switch s.magic {
		case blockMagic:
			return s.block()
		case endMagic:
			for len(s.data)*8 < s.start+markBits {
				if err := s.read(); err != nil {
					return nil, err
				}
			}
			if s.bitsAt(s.start+magicBits, 32) != uint64(s.checksum) {
				return nil, bzip2.StructuralError("checksum mismatch")
			}
			s.magic, s.checksum = 0, 0
		default:
			if err := s.begin(); err != nil {
				return nil, err
			}
		}
	}
}

// begin reads the header of a stream. The error is io.EOF if there is none.
func (s *blockSplitter) begin() error {
	if _, err := io.ReadFull(s.in, s.header[:]); err != nil {
		return err
	}
	if s.streams++; string(s.header[:3]) != "BZh" || s.header[3] < '1' || s.header[3] > '9' {
		if s.streams > 1 {
			return bzip2.StructuralError("bad magic value in continuation file")
		}
		return bzip2.StructuralError("bad magic value")
	}
	s.data, s.start = s.data[:0], 0
	for len(s.data) < magicBits/8 {
		if err := s.read(); err != nil {
			return err
		}
	}
	if s.magic = s.bitsAt(0, magicBits); s.magic != blockMagic && s.magic != endMagic {
		return bzip2.StructuralError("bad magic value found")
	}
	return nil
}

// read reads another byte.
func (s *blockSplitter) read() error {
	c, err := s.in.ReadByte()
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	s.data = append(s.data, c)
	return err
}

// block reads to the next magic number and returns a file of the block before it.
func (s *blockSplitter) block() ([]byte, error) {
	const mask = 1<<magicBits - 1
	window := uint64(0) // the last bits
	for at := s.start/8 + magicBits/8; ; at++ {
		for at >= len(s.data) {
			if err := s.read(); err != nil {
				return nil, err
			}
		}
		if at > mostBlock {
			return nil, bzip2.StructuralError("a block has no end")
		}
		window = window<<8 | uint64(s.data[at])
		for shift := 7; shift >= 0; shift-- {
			magic := window >> shift & mask
			if magic != blockMagic && magic != endMagic {
				continue
			}
			end := 8*(at+1) - shift - magicBits
			if end < s.start+markBits {
				continue
			}
			file := s.file(end)
			s.data = append(s.data[:0], s.data[end/8:at+1]...)
			s.start, s.magic = end%8, magic
			return file, nil
		}
	}
}

// file returns a file of the block that ends before a bit of data, and adds its checksum
// to that of the stream.
func (s *blockSplitter) file(end int) []byte {
	checksum := uint32(s.bitsAt(s.start+magicBits, 32))
	s.checksum = bits.RotateLeft32(s.checksum, 1) ^ checksum
	file := append(make([]byte, 0, (end-s.start)/8+24), s.header[:]...)
	at := s.start
	for ; at+8 <= end; at += 8 {
		file = append(file, byte(s.bitsAt(at, 8)))
	}
	// The bits that are left, and the end of a stream of one block.
	used := end - at
	rest := s.bitsAt(at, used)
	for _, part := range []struct {
		value uint64
		bits  int
	}{{endMagic, magicBits}, {uint64(checksum), 32}, {0, 7}} {
		for k := part.bits - 1; k >= 0; k-- {
			rest = rest<<1 | part.value>>k&1
			if used++; used == 8 {
				file = append(file, byte(rest))
				rest, used = 0, 0
			}
		}
	}
	return file
}

// bitsAt returns up to 48 bits of data from bit at on.
func (s *blockSplitter) bitsAt(at, count int) (value uint64) {
	have := 8 - at%8
	if count == 0 {
		return 0
	}
	value = uint64(s.data[at/8]) & (1<<have - 1)
	for k := at/8 + 1; have < count; k++ {
		value = value<<8 | uint64(s.data[k])
		have += 8
	}
	return value >> (have - count)
}
