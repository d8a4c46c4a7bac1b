package wordcount

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"sync/atomic"
	"unicode/utf8"

	"github.com/w2vcl/w2vcl/internal/textfile"
)

// A cutter reads the text of all sources and cuts it into chunks.
type cutter struct {
	sources   []textfile.Source
	tokenizer Tokenizer
	chunkSize int // bytes read at a time; a chunk has about as many
	maxToken  int
	progress  func(bytesRead, bytesTotal int64) // or nil

	chunks chan<- chunk
	spare  <-chan []byte // buffers of encoded chunks, to be used again

	stored      atomic.Int64 // atomic: files are read ahead in goroutines
	storedTotal int64
	number      int    // of the next chunk
	buffer      []byte // for the next source

	// The cutter's part of Stats. The encoders count the rest.
	files, bytes            int64
	longTokens, invalidUTF8 int64 // of tokens that were skipped here
}

// run reads all sources, in order, and closes the channel of chunks.
func (c *cutter) run(ctx context.Context) error {
	defer close(c.chunks)
	for _, s := range c.sources {
		if c.storedTotal += s.Size; s.Size < 0 {
			c.storedTotal = -1
			break
		}
	}
	files := textfile.OpenAll(c.sources, &c.stored)
	defer files.Close()
	for range c.sources {
		text, err := files.Next()
		if err != nil {
			return err
		}
		if err := c.cutSource(ctx, text); err != nil {
			return err
		}
	}
	return nil
}

func (c *cutter) cutSource(ctx context.Context, text *textfile.Reader) error {
	defer text.Close()
	f := fileCutter{cutter: c, text: text, buffer: c.buffer}
	for !f.done {
		if err := f.fill(ctx); err != nil {
			return err
		}
		if err := f.cut(ctx); err != nil {
			return err
		}
		if c.progress != nil && ctx.Err() == nil {
			c.progress(c.stored.Load(), c.storedTotal)
		}
	}
	c.files++
	c.bytes += text.Bytes
	c.buffer = f.buffer // empty now: a text ends between tokens
	return nil
}

// A fileCutter is the state of cutting one source.
type fileCutter struct {
	*cutter
	text *textfile.Reader

	buffer []byte // text that was read and is in no chunk; begins between tokens
	inLong bool   // buffer begins inside a token that is too long for a word
	last   byte   // byte of the text read so far; NUL, which no text has, at its start
	done   bool   // all text is read
}

// fill reads more text: chunkSize bytes, or as many as the buffer holds if that is
// more, which keeps the cost of a long token linear. It ends the text with a line
// feed if the text has none there.
func (f *fileCutter) fill(ctx context.Context) error {
	have, offset := len(f.buffer), f.text.Bytes
	want := have + max(f.chunkSize, have)
	f.buffer = slices.Grow(f.buffer, want-have+len("\n")+padding)
	for idle := 0; len(f.buffer) < want && !f.done; idle++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := f.text.Read(f.buffer[len(f.buffer):want])
		f.buffer = f.buffer[:len(f.buffer)+n]
		switch {
		case err == io.EOF:
			f.done = true
		case err != nil:
			return err
		case n > 0:
			idle = 0
		case idle == 100: // the same number as in package bufio
			return f.text.Wrap(io.ErrNoProgress)
		}
	}
	fresh := f.buffer[have:]
	if at := bytes.IndexByte(fresh, 0); at >= 0 {
		return fmt.Errorf("%s: byte %d of the text is NUL: this is a binary file, not text (an archive, UTF-16, a model?)",
			f.text.Source.Name, offset+int64(at))
	}
	if len(fresh) > 0 {
		f.last = fresh[len(fresh)-1]
	}
	if f.done && f.last != 0 && f.last != '\n' {
		f.buffer = append(f.buffer, '\n')
	}
	return nil
}

// cut makes a chunk of the text in the buffer and leaves the start of a token at
// its end for the next chunk. If the buffer holds nothing but that start, cut
// leaves it, or skips it when it is too long for a word.
func (f *fileCutter) cut(ctx context.Context) error {
	if f.inLong {
		end, decided := f.tokenizer.tokenEnd(f.buffer, 0)
		if !decided {
			f.skipInside(end)
			return nil
		}
		f.skip(end)
		f.inLong = false
	}
	length, tokenLength := f.tokenizer.lastBreak(f.buffer)
	switch {
	case length > 0:
		return f.emit(ctx, length)
	case tokenLength > f.maxToken:
		f.inLong = true
		f.longTokens++
		f.skipInside(tokenLength)
	}
	return nil
}

// emit sends the first length bytes of the buffer as a chunk and moves the rest to
// another buffer.
func (f *fileCutter) emit(ctx context.Context, length int) error {
	var next []byte
	select {
	case next = <-f.spare:
	default:
	}
	next = append(next[:0], f.buffer[length:]...)
	select {
	case f.chunks <- chunk{number: f.number, text: f.buffer[:length]}:
	case <-ctx.Done():
		return ctx.Err()
	}
	f.buffer = next
	f.number++
	return nil
}

// skipInside skips the first length bytes of the buffer, which lie inside a token,
// except their last character: the text after it decides whether the token ends.
func (f *fileCutter) skipInside(length int) {
	_, size := utf8.DecodeLastRune(f.buffer[:length])
	f.skip(length - size)
}

// skip removes the first length bytes of the buffer.
func (f *fileCutter) skip(length int) {
	f.invalidUTF8 += invalidBytes(f.buffer[:length])
	f.buffer = append(f.buffer[:0], f.buffer[length:]...)
}
