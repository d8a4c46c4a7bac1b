package encoded

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	"github.com/w2vcl/w2vcl/internal/atomicfile"
	"github.com/w2vcl/w2vcl/internal/container"
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/parallel"
)

// A Source is what [Write] writes.
type Source struct {
	Key         uint64   // of the text and the settings
	Words       []string // (V), by id
	Counts      []uint64 // (V)
	MaxSentence int      // tokens; longer lines become several sentences
	Threads     int

	// Fill adds all parts of the text.
	Fill func(w *Writer) error

	// Finish returns the fingerprint of the text, and numbers about it, when it is written.
	// cut is the number of lines that were longer than MaxSentence.
	Finish func(text *Text, cut int64) (fingerprint uint64, stats [Stats]int64)
}

// A Writer takes the parts of a text, in order.
type Writer struct {
	width, maxSentence int
	out                *bufio.Writer

	tokens, last, sentences int // last: the end of the last sentence
	cut                     int64
	bases                   []uint64
	offsets                 []byte // that are not in the scratch file yet
	scratch                 *atomicfile.Scratch
}

// Write writes a text to a file that [Open] reads, which appears whole or not at all.
func Write(path string, s Source) error {
	scratch, err := atomicfile.NewScratch(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer func() { _ = scratch.Close() }() // nothing in it is needed any more
	return atomicfile.WriteFile(path, func(f *os.File) error {
		w := &Writer{
			width: Width(len(s.Words)), maxSentence: s.MaxSentence, out: bufio.NewWriterSize(f, 1<<20),
			bases: []uint64{0}, offsets: make([]byte, 4, 1<<20), scratch: scratch,
		}
		_, _ = w.out.Write(make([]byte, headerSize)) // an error of the buffer stays
		if err := s.Fill(w); err != nil {
			return err
		}
		return w.finish(f, &s)
	})
}

// Add adds ids of as many bytes as [Width] says, and the numbers of tokens before each end of
// a line in them. The last line of all ends with the last token.
func (w *Writer) Add(ids []byte, lineEnds []uint32) error {
	if _, err := w.out.Write(ids); err != nil {
		return err
	}
	for _, lineEnd := range lineEnds {
		end := w.tokens + int(lineEnd)
		if end-w.last > w.maxSentence {
			w.cut++
		}
		for w.last < end {
			w.last = min(w.last+w.maxSentence, end)
			if err := w.bound(); err != nil {
				return err
			}
		}
	}
	w.tokens += len(ids) / w.width
	return nil
}

// bound adds the end of a sentence, where the next starts.
func (w *Writer) bound() error {
	if w.sentences++; w.sentences%perBase == 0 {
		w.bases = append(w.bases, uint64(w.last))
	}
	offset := uint64(w.last) - w.bases[len(w.bases)-1]
	if offset > math.MaxUint32 {
		return fmt.Errorf("sentences of up to %d words are too long for a file: at most %d fit", w.maxSentence, math.MaxUint32/perBase)
	}
	w.offsets = binary.LittleEndian.AppendUint32(w.offsets, uint32(offset))
	if len(w.offsets) < 1<<20 {
		return nil
	}
	_, err := w.scratch.Append(w.offsets)
	w.offsets = w.offsets[:0]
	return err
}

// finish writes the parts behind the ids, the checksums and the header.
func (w *Writer) finish(f *os.File, s *Source) error {
	h := header{
		Magic: format.Magic, Version: format.Version, Width: uint32(w.width),
		Tokens: uint64(w.tokens), Sentences: uint64(w.sentences), Words: uint64(len(s.Words)), Key: s.Key,
	}
	for _, word := range s.Words {
		h.WordBytes += uint64(len(word))
	}
	_, body, _ := h.parts()
	h.FileSize = format.Size(body)
	w.pad(w.width * w.tokens)
	w.numbers(w.bases)
	if _, err := w.scratch.Append(w.offsets); err != nil {
		return err
	}
	if _, err := io.Copy(w.out, w.scratch.Reader()); err != nil {
		return err
	}
	w.pad(4 * (w.sentences + 1))
	w.numbers(s.Counts)
	for _, word := range s.Words {
		_, _ = w.out.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(word))))
	}
	w.pad(4 * len(s.Words))
	for _, word := range s.Words {
		_, _ = w.out.WriteString(word)
	}
	w.pad(int(h.WordBytes))
	_, _ = w.out.Write(make([]byte, h.FileSize-headerSize-body)) // checksums
	if err := w.out.Flush(); err != nil {
		return err
	}
	return h.seal(f, s, w.cut)
}

// numbers writes numbers of 8 bytes.
func (w *Writer) numbers(x []uint64) { _, _ = w.out.Write(memory.BytesOf(x)) }

// pad fills up to 8 bytes, behind so many.
func (w *Writer) pad(n int) {
	_, _ = w.out.Write(make([]byte, int(padded(uint64(n)))-n))
}

// seal writes the checksums and the header of a file that is whole but for these.
func (h *header) seal(f *os.File, s *Source, cut int64) (err error) {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	data, unmap, err := memory.MapFile(f, int64(h.FileSize))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unmap()) }()
	file := &File{header: *h}
	file.lay(data)
	finish := parallel.Begin(func() error {
		h.Fingerprint, h.Stats = s.Finish(&file.text, cut)
		return nil
	})
	_, body, _ := h.parts()
	tail, err := container.Tail(f, headerSize, int(body), s.Threads)
	_ = finish() // it has none
	if err != nil {
		return err
	}
	if _, err := f.WriteAt(tail, int64(headerSize+body)); err != nil {
		return err
	}
	_, err = f.WriteAt(container.Encode(h), 0)
	return err
}
