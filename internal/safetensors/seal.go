package safetensors

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"

	"github.com/cespare/xxhash/v2"
)

// A sealed file has two checksums in its metadata, XXH64 in 16 hexadecimal digits
// each, which together cover every byte of it: that of the header's JSON, in which
// its own digits count as zeros, and that of the bytes of all tensors. The length
// before the header needs none: with another length it is another header.
const (
	headerSum = "xxh64-header"
	dataSum   = "xxh64-data"
	noSum     = "0000000000000000"
)

// ErrDamaged says that a sealed file is not what was written.
var ErrDamaged = errors.New("it is damaged")

// WriteSealed writes a file with checksums. data writes the bytes of all tensors, in
// their order; it is called twice.
func WriteSealed(w io.Writer, metadata map[string]string, tensors []Tensor, data func(io.Writer) error) error {
	hash := xxhash.New()
	if err := data(hash); err != nil {
		return err
	}
	metadata = maps.Clone(metadata)
	if metadata == nil {
		metadata = map[string]string{}
	}
	metadata[dataSum], metadata[headerSum] = hexadecimal(hash.Sum64()), noSum
	header, err := encodeHeader(metadata, tensors)
	if err != nil {
		return err
	}
	copy(sumDigits(header), hexadecimal(xxhash.Sum64(header)))
	if err := writeHeader(w, header); err != nil {
		return err
	}
	return data(w)
}

func hexadecimal(sum uint64) string { return fmt.Sprintf("%016x", sum) }

// sumDigits returns the digits of the header's checksum in its JSON, nil if it has
// none.
func sumDigits(header []byte) []byte {
	before := []byte(`"` + headerSum + `":"`)
	at := bytes.Index(header, before)
	if at < 0 || len(header)-at-len(before) < len(noSum) {
		return nil
	}
	return header[at+len(before):][:len(noSum)]
}

// A File is a file that has been opened by [Open].
type File struct {
	Metadata map[string]string // without the checksums
	Tensors  []Tensor          // in the order of their bytes
	Sealed   bool              // it has checksums, and that of the header is right

	data io.Reader
	hash *xxhash.Digest // of the data read; nil: they have no checksum
	sum  string         // that the data should have
}

// Open reads the header of a file, sealed or not. An error about a checksum wraps
// [ErrDamaged].
func Open(r io.Reader) (*File, error) {
	header, err := readHeader(r)
	if err != nil {
		return nil, err
	}
	f := &File{data: r}
	if f.Metadata, f.Tensors, err = decodeHeader(header); err != nil {
		return nil, err
	}
	sum, hasSum := f.Metadata[headerSum]
	tensorsSum, hasData := f.Metadata[dataSum]
	if !hasSum && !hasData {
		return f, nil
	}
	digits := sumDigits(header)
	if digits == nil || string(digits) != sum || !hasData {
		return nil, fmt.Errorf("%w: one of its checksums is missing", ErrDamaged)
	}
	copy(digits, noSum)
	if got := hexadecimal(xxhash.Sum64(header)); got != sum {
		return nil, fmt.Errorf("%w: its header is not what was written (checksum %s instead of %s)", ErrDamaged, got, sum)
	}
	delete(f.Metadata, headerSum)
	delete(f.Metadata, dataSum)
	f.Sealed = true
	f.hash, f.sum = xxhash.New(), tensorsSum
	f.data = io.TeeReader(f.data, f.hash)
	return f, nil
}

// Read reads the bytes of the tensors.
func (f *File) Read(p []byte) (int, error) { return f.data.Read(p) }

// Finish is called when the bytes of all tensors have been read. It returns an error
// if more follow, or if they do not have the checksum of the file.
func (f *File) Finish() error {
	sum := ""
	if f.hash != nil {
		sum = hexadecimal(f.hash.Sum64())
	}
	if n, err := io.ReadFull(f.data, make([]byte, 1)); n > 0 {
		return errors.New("there are more bytes than its tensors have")
	} else if err != io.EOF {
		return err
	}
	if sum != f.sum {
		return fmt.Errorf("%w: its data are not what was written (checksum %s instead of %s)", ErrDamaged, sum, f.sum)
	}
	return nil
}
