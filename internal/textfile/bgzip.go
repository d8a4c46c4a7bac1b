package textfile

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"

	"github.com/klauspost/compress/gzip"

	"github.com/w2vcl/w2vcl/internal/parallel"
)

// A file of bgzip has members of up to 64 KiB of text, each of which says how long it
// is (SAMv1, section 4.1). Some of them are decompressed at a time.
const (
	bgzipText  = 64 << 10
	bgzipGroup = 16 // members of a block
)

// errMember is the error of a member that has more text than bgzip writes.
var errMember = errors.New("a member has more than 64 KiB of text")

// openGzip opens a gzip file, of bgzip with several threads.
func openGzip(in *bufio.Reader, threads int) (io.ReadCloser, error) {
	if size, _ := memberSize(in); size == 0 || threads < 2 {
		return Gzip(in)
	}
	ended := false
	return parallel.NewBlocks(threads, func() (func() parallel.Block, io.Reader, error) {
		var members [][]byte
		for !ended && len(members) < bgzipGroup {
			size, err := memberSize(in)
			if size == 0 {
				ended = true
				if err != nil && err != io.EOF {
					return nil, nil, err
				}
				break
			}
			member := make([]byte, size)
			if _, err := io.ReadFull(in, member); err != nil {
				return nil, nil, io.ErrUnexpectedEOF
			}
			members = append(members, member)
		}
		if len(members) == 0 { // the end, or members of another program
			return nil, &gzipReader{in: in, gzip: new(gzip.Reader), between: true}, nil
		}
		return func() parallel.Block {
			text, err := inflate(members)
			return parallel.Block{Data: text, Err: err}
		}, nil, nil
	}), nil
}

// memberSize returns the size of a member of bgzip that comes next; 0 if something else
// does.
func memberSize(in *bufio.Reader) (int, error) {
	head, err := in.Peek(12)
	if len(head) < 12 {
		return 0, err
	}
	const hasExtra = 4
	if !IsGzip(head[:2]) || head[3]&hasExtra == 0 {
		return 0, nil
	}
	length := int(binary.LittleEndian.Uint16(head[10:]))
	head, err = in.Peek(12 + length)
	if len(head) < 12+length {
		if err == bufio.ErrBufferFull {
			return 0, nil // bgzip's are short
		}
		return 0, err
	}
	for extra := head[12:]; len(extra) >= 4; {
		field := int(binary.LittleEndian.Uint16(extra[2:]))
		if len(extra) < 4+field {
			break
		}
		if extra[0] == 'B' && extra[1] == 'C' && field == 2 {
			if size := int(binary.LittleEndian.Uint16(extra[4:])) + 1; size > 12+length {
				return size, nil
			}
		}
		extra = extra[4+field:]
	}
	return 0, nil
}

// inflate returns the text of members.
func inflate(members [][]byte) ([]byte, error) {
	text := make([]byte, 0, len(members)*bgzipText)
	z := new(gzip.Reader)
	in := bytes.NewReader(nil)
	for _, member := range members {
		in.Reset(member)
		if err := begin(z, in); err != nil {
			return text, err
		}
		for start := len(text); ; {
			if len(text) == cap(text) || len(text)-start > bgzipText {
				// Full: there should be nothing more than the checksum.
				var more [1]byte
				n, err := z.Read(more[:])
				if n > 0 {
					return text, errMember
				}
				if err == io.EOF {
					break
				}
				if err != nil {
					return text, err
				}
				continue
			}
			n, err := z.Read(text[len(text):cap(text)])
			text = text[:len(text)+n]
			if err == io.EOF {
				break
			}
			if err != nil {
				return text, err
			}
		}
		if in.Len() > 0 {
			return text, errors.New("a member is longer than it says")
		}
	}
	return text, nil
}
