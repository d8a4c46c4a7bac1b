package embedding

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/w2vcl/w2vcl/embedding/fasttext"
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/textfile"
)

// Load reads a table in any format, plain or compressed with gzip or zstd. It recognizes
// the format by the content, never by the name. Errors name the file and the
// line, word or byte. They may wrap the error of a context that is done, or
// memory.ErrRoom.
func Load(ctx context.Context, path string) (*Table, error) {
	in, closeFile, err := open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer closeFile()
	format, err := detect(in.Reader)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if format == FastTextModel { // most of it may stay in the file
		if in.most == 0 {
			return nil, fmt.Errorf("%s: this fastText model comes from a pipe, but must be in a file: save it to a file and name that file", path)
		}
		m, err := fasttext.Open(path)
		if err != nil {
			return nil, err
		}
		t, err := Compose(m)
		if err = errors.Join(err, m.Close()); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		return t, nil
	}
	t, err := read(in, format, func() ([]string, error) { return loadWords(ctx, WordsPath(path, format)) })
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

// Compose returns the vectors of the words of a fastText model.
func Compose(m *fasttext.Model) (*Table, error) { return NewTable(m.Words, m.Dim(), m.Vectors()) }

// An input is a stream of vectors.
type input struct {
	*bufio.Reader
	size int64 // at most so many bytes, or 0 if unknown; only guides allocation
	most int64 // likewise, also of compressed files
}

// open opens path for reading and decompresses it.
func open(ctx context.Context, path string) (in input, closeFile func(), err error) {
	f, err := os.Open(path)
	if err != nil {
		return input{}, nil, err
	}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return input{}, nil, err
	}
	if info.IsDir() {
		return input{}, nil, fmt.Errorf("%s is a folder, not a file of vectors", path)
	}
	closeFile = func() { f.Close() }
	packed := &countingReader{r: memory.NewReader(ctx, f)}
	in = newInput(packed, info.Size())
	head, _ := in.Peek(textfile.HeadBytes)
	unpack := unpackerOf(head)
	if unpack == nil {
		return in, closeFile, nil
	}
	text, err := unpack(in)
	if err != nil {
		return input{}, nil, fmt.Errorf("%s: %w", path, err)
	}
	closeFile = func() {
		text.Close()
		f.Close()
	}
	in = newInput(memory.NewReader(ctx, &unpacker{r: text, packed: packed}), 0)
	if info.Mode().IsRegular() {
		in.most = mostUnpacked(info.Size())
	}
	return in, closeFile, nil
}

type countingReader struct {
	r io.Reader
	n int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// largestRatio is how many times their size compressed vectors may become. Those of text
// become three times as long, those of few digits ten; a hostile file 1,032.
const largestRatio = 32

// mostUnpacked returns how much packed bytes may become; a small file may have any ratio.
func mostUnpacked(packed int64) int64 { return 16<<20 + largestRatio*packed }

// An unpacker decompresses a file that may be hostile: a little of it could become more
// than anybody has time and memory for.
type unpacker struct {
	r      io.Reader
	packed *countingReader
	n      int64 // bytes until now
}

func (u *unpacker) Read(p []byte) (int, error) {
	if u.n > mostUnpacked(u.packed.n) {
		return 0, fmt.Errorf("%d compressed bytes expand to %d, more than %d times as many, which vectors should not: decompress the file first if that is right", u.packed.n, u.n, largestRatio)
	}
	n, err := u.r.Read(p)
	u.n += int64(n)
	return n, err
}

func newInput(r io.Reader, size int64) input {
	return input{bufio.NewReaderSize(r, beginning), size, size}
}

// expectEnd returns an error if there is more to read.
func (in input) expectEnd() error {
	_, err := in.Peek(1)
	if err == io.EOF {
		return nil
	}
	if err == nil {
		err = errors.New("there is more data than expected")
	}
	return err
}

// read reads a table in format f. words returns the words of formats that keep
// them in another file.
func read(in input, f Format, words func() ([]string, error)) (*Table, error) {
	switch f {
	case Word2VecText:
		return readText(in, true)
	case GloVe:
		return readText(in, false)
	case Word2VecBinary:
		return readBinary(in)
	case NPY:
		return readNPY(in, words)
	case Safetensors:
		return readSafetensors(in)
	case Projector:
		return readProjector(in, words)
	case FastTextModel:
		m, err := fasttext.Read(in.Reader, in.size)
		if err != nil {
			return nil, err
		}
		return Compose(m)
	}
	return nil, fmt.Errorf("cannot read format %s", f)
}
