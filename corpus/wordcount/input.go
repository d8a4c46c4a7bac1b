package wordcount

import (
	"fmt"
	"io"

	"github.com/w2vcl/w2vcl/internal/textfile"
)

// An Input is a text to read: files or streams, one after the other.
type Input struct {
	name    string
	sources []textfile.Source
}

// A File is a file or stream of an Input.
type File struct {
	Name string // its path, or what stands for it in messages
	Size int64  // in bytes as stored, -1 if unknown
}

// Find returns the files of a path: a file, a folder with all below it, or - for standard
// input. Errors name the path.
func Find(path string) (*Input, error) {
	sources, err := textfile.Find(path)
	if err != nil {
		return nil, fmt.Errorf("corpus: %w", err)
	}
	if path == "-" {
		path = textfile.StdinName
	}
	return &Input{path, sources}, nil
}

// From returns what r reads, once. size is that of the text, -1 if it is not known. The name
// stands for r in messages.
func From(r io.Reader, size int64, name string) *Input {
	open := func() (io.ReadCloser, error) { return io.NopCloser(r), nil }
	return &Input{name, []textfile.Source{{Name: name, Size: size, Open: open}}}
}

// Join returns the texts of inputs, one after the other.
func Join(name string, inputs ...*Input) *Input {
	all := &Input{name: name}
	for _, in := range inputs {
		all.sources = append(all.sources, in.sources...)
	}
	return all
}

// Name stands for the text in messages.
func (in *Input) Name() string { return in.name }

// Files lists the files.
func (in *Input) Files() []File {
	files := make([]File, len(in.sources))
	for i, s := range in.sources {
		files[i] = File{s.Name, s.Size}
	}
	return files
}
