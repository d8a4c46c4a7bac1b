package embedding

import (
	"compress/gzip"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/w2vcl/w2vcl/internal/textfile"
)

// compressions are the extensions of compressed files, with what writes them.
var compressions = map[string]func(w io.Writer) (io.WriteCloser, error){
	".gz":  func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil },
	".zst": func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) },
}

// cutCompression splits a path into the name of the uncompressed file and the extension of a
// compression, which is "" for most.
func cutCompression(path string) (name, extension string) {
	for extension := range compressions {
		if at := len(path) - len(extension); at > 0 && strings.EqualFold(path[at:], extension) {
			return path[:at], extension
		}
	}
	return path, ""
}

// CheckCompression returns an error if the name of a file asks for a compression that its format
// does not have.
func CheckCompression(path string, f Format) error {
	if _, extension := cutCompression(path); extension != "" && f == FastTextModel {
		return fmt.Errorf("%s: format %s cannot be compressed, because programs read parts of it; leave out %s", path, f, extension)
	}
	return nil
}

// Compressed returns a function that writes what write does, compressed as the path says.
func Compressed(path string, write func(io.Writer) error) func(io.Writer) error {
	_, extension := cutCompression(path)
	if extension == "" {
		return write
	}
	return func(w io.Writer) error {
		packed, err := compressions[extension](w)
		if err != nil {
			return err
		}
		if err := write(packed); err != nil {
			_ = packed.Close() // the other error is the one to tell
			return err
		}
		return packed.Close()
	}
}

// unpackerOf returns what decompresses a stream that begins so; nil if it is not compressed.
func unpackerOf(head []byte) func(io.Reader) (io.ReadCloser, error) {
	switch format := textfile.FormatOf(head); format {
	case "gzip", "zstd":
		return func(r io.Reader) (io.ReadCloser, error) {
			open := textfile.Gzip
			if format == "zstd" {
				open = textfile.Zstd
			}
			in, err := open(r)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", format, err)
			}
			return in, nil
		}
	}
	return nil
}
