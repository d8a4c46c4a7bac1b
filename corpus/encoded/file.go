package encoded

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/w2vcl/w2vcl/internal/container"
	"github.com/w2vcl/w2vcl/internal/memory"
)

// A file holds, all little-endian, each part padded with zeros to 8 bytes:
//
//	header                 256 bytes, see below
//	ids                    N x 2, 3 or 4 bytes: the words of all sentences
//	bases                  (S/4096+1) x uint64: first token of every 4096th sentence
//	offsets                (S+1) x uint32: first token of each sentence, from its base on
//	counts                 V x uint64: of the words
//	lengths                V x uint32: bytes of the words
//	words                  UTF-8, one behind the other
//	checksums              of package container
//
// A checksum covers every byte. The arrays are used in the mapped file without a copy.
type header struct {
	Magic       [8]byte
	Version     uint32
	Width       uint32 // bytes of an id: 2, 3 or 4
	Tokens      uint64 // N
	Sentences   uint64 // S
	Words       uint64 // V
	WordBytes   uint64
	Key         uint64 // of the text and the settings that the file was made from
	Fingerprint uint64 // of the corpus
	FileSize    uint64
	Stats       [Stats]int64
	_           [headerSize - 8*9 - 8*Stats - 4]byte
	Checksum    uint32 // CRC-32C of the bytes of the header before this field
}

// Stats is how many numbers about its text a file holds, for its reader.
const Stats = 16

const headerSize = 256

var format = container.Format{
	Magic: [8]byte{0x89, 'W', '2', 'V', 'C', 'L', 'T', '\n'}, Version: 1, Header: headerSize,
	ErrOther: ErrNotText, ErrVersion: ErrVersion, ErrTruncated: ErrTruncated, ErrCorrupt: ErrCorrupt,
}

// IsText reports whether a file that begins so is an encoded text, perhaps a damaged one.
func IsText(head []byte) bool { return format.Is(head) }

// Open wraps one of these errors if it refuses a file.
var (
	ErrNotText   = errors.New("this is not an encoded text of w2vcl")
	ErrVersion   = errors.New("another version of w2vcl wrote this encoded text")
	ErrTruncated = errors.New("this encoded text has the wrong length: it was not copied or written completely")
	ErrCorrupt   = errors.New("this encoded text is damaged")
)

// Width returns the bytes of an id where there are so many words.
func Width(words int) int {
	switch {
	case words <= 1<<16:
		return 2
	case words <= 1<<24:
		return 3
	default:
		return 4
	}
}

// parts are the bytes of the parts between header and checksums, with their padding.
func (h *header) parts() (sizes [6]uint64, body uint64, ok bool) {
	const limit = math.MaxInt64 / 64 // nothing below overflows
	if h.Tokens > limit || h.Sentences > limit || h.Words > limit || h.WordBytes > limit {
		return sizes, 0, false
	}
	sizes = [6]uint64{
		uint64(h.Width) * h.Tokens, 8 * (h.Sentences/perBase + 1), 4 * (h.Sentences + 1),
		8 * h.Words, 4 * h.Words, h.WordBytes,
	}
	for i := range sizes {
		sizes[i] = padded(sizes[i])
		body += sizes[i]
	}
	return sizes, body, true
}

func padded(n uint64) uint64 { return (n + 7) &^ 7 }

// decodeHeader reads the header of a file of the given size.
func decodeHeader(data []byte, size uint64) (*header, error) {
	h := new(header)
	if err := format.Decode(data, size, h, &h.FileSize); err != nil {
		return nil, err
	}
	_, body, ok := h.parts()
	if !ok || format.Size(body) != size || h.Words == 0 || h.Words > math.MaxUint32 || h.Tokens == 0 || h.Sentences == 0 ||
		h.Sentences > h.Tokens || int(h.Width) != Width(int(h.Words)) {
		return nil, fmt.Errorf("%w: its header contradicts itself", ErrCorrupt)
	}
	return h, nil
}

// A File is a text in a file.
type File struct {
	header
	text                   Text
	content                *os.File
	whole                  []byte
	counts, lengths, words []byte
	unmap                  func() error
}

// Text returns the text. It is valid until Close.
func (f *File) Text() *Text { return &f.text }

// Key returns what was given to [Write].
func (f *File) Key() uint64 { return f.header.Key }

// Fingerprint returns the fingerprint of the corpus.
func (f *File) Fingerprint() uint64 { return f.header.Fingerprint }

// Stats returns what was given to [Write].
func (f *File) Stats() [Stats]int64 { return f.header.Stats }

// Bytes returns the size of the file.
func (f *File) Bytes() int64 { return int64(f.FileSize) }

// Width returns the bytes of an id.
func (f *File) Width() int { return int(f.header.Width) }

// Vocabulary returns a copy of the words, and their counts, V each, by id.
func (f *File) Vocabulary() (words []string, counts []uint64) {
	words, counts = make([]string, f.Words), make([]uint64, f.Words)
	all := string(f.words[:f.WordBytes])
	at := 0
	for id, length := range memory.NumbersOf[uint32](f.lengths[:4*f.Words]) {
		words[id] = all[at : at+int(length)]
		at += int(length)
	}
	copy(counts, memory.NumbersOf[uint64](f.counts))
	return words, counts
}

// Close makes the text invalid.
func (f *File) Close() error {
	unmap, content := f.unmap, f.content
	if unmap == nil {
		return nil
	}
	*f = File{}
	return errors.Join(unmap(), content.Close())
}

// Key returns the key in the header of a file, which may be damaged elsewhere.
func Key(path string) (uint64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	head := make([]byte, headerSize)
	n, _ := f.ReadAt(head, 0) // what is short is no header
	h, err := decodeHeader(head[:n], uint64(info.Size()))
	if err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	return h.Key, nil
}

// Open maps a file, and checks every byte of it on so many threads.
func Open(path string, threads int) (*File, error) {
	f, err := open(path)
	if err == nil {
		if err = withoutPath(f.check(f.content, threads)); err != nil {
			err = errors.Join(err, f.Close())
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// OpenWritten is Open of a file that this process has just written, without the check.
func OpenWritten(path string) (*File, error) {
	f, err := open(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// open maps a file and checks its header.
func open(path string) (*File, error) {
	data, content, unmap, err := format.Map(path)
	if err != nil {
		return nil, withoutPath(err)
	}
	h, err := decodeHeader(data, uint64(len(data)))
	if err != nil {
		content.Close()
		return nil, errors.Join(err, unmap())
	}
	f := &File{header: *h, content: content, unmap: unmap}
	f.lay(data)
	f.text.ids = io.NewSectionReader(content, headerSize, int64(h.Width)*int64(h.Tokens))
	return f, nil
}

// withoutPath leaves the path of an error of the system to the caller, who names the file.
func withoutPath(err error) error {
	if p := (*os.PathError)(nil); errors.As(err, &p) {
		return p.Err
	}
	return err
}

// lay sets the parts of the file.
func (f *File) lay(data []byte) {
	sizes, _, _ := f.parts()
	at := uint64(headerSize)
	var parts [len(sizes)][]byte
	for i, size := range sizes {
		parts[i] = data[at : at+size]
		at += size
	}
	t := &f.text
	*t = Text{tokens: int(f.Tokens), sentences: int(f.Sentences), release: memory.Release}
	ids := parts[0][:uint64(f.header.Width)*f.Tokens]
	switch f.header.Width {
	case 2:
		t.narrow = memory.NumbersOf[uint16](ids)
	case 3:
		t.packed = ids
	default:
		t.wide = memory.NumbersOf[uint32](ids)
	}
	t.bases, t.offsets = memory.NumbersOf[uint64](parts[1]), memory.NumbersOf[uint32](parts[2])[:f.Sentences+1]
	f.counts, f.lengths, f.words = parts[3], parts[4], parts[5]
	f.whole = data
}
