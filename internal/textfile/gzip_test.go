package textfile

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/iotest"
)

// member compresses a text.
func member(t testing.TB, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func gunzip(r io.Reader) ([]byte, error) {
	z, err := Gzip(r)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	return io.ReadAll(z)
}

func TestReader(t *testing.T) {
	random := rand.New(rand.NewPCG(rand.Uint64(), 0))
	for _, size := range []int{0, 1, 511, 512, 4095, 4096, 4097, 100_000} {
		text := make([]byte, size)
		for i := range text {
			text[i] = "abcdef"[random.IntN(6)]
		}
		one := member(t, text)
		two := slices.Concat(one, member(t, []byte("more")))
		zeros := make([]byte, 1+random.IntN(10_000))
		for name, test := range map[string]struct {
			file []byte
			want []byte
			err  error
		}{
			"plain":             {one, text, nil},
			"members":           {two, append(slices.Clone(text), "more"...), nil},
			"zeros":             {slices.Concat(one, zeros), text, nil},
			"zeros in between":  {slices.Concat(one, zeros, member(t, []byte("more"))), append(slices.Clone(text), "more"...), nil},
			"garbage":           {slices.Concat(one, []byte("x")), nil, ErrTrailing},
			"garbage and zeros": {slices.Concat(one, zeros, []byte("\x1f")), nil, ErrTrailing},
			"cut":               {one[:len(one)-1], nil, io.ErrUnexpectedEOF},
			"cut member":        {two[:len(two)-1], nil, io.ErrUnexpectedEOF},
		} {
			for way, r := range map[string]io.Reader{
				"": bytes.NewReader(test.file), " byte by byte": iotest.OneByteReader(bytes.NewReader(test.file)),
				" error with data": iotest.DataErrReader(bytes.NewReader(test.file)),
			} {
				got, err := gunzip(r)
				if !errors.Is(err, test.err) || test.err == nil && !bytes.Equal(got, test.want) {
					t.Errorf("%s%s of %d bytes: %d bytes, want %d; error %v, want %v", name, way, size, len(got), len(test.want), err, test.err)
				}
			}
		}
	}
	if _, err := gunzip(bytes.NewReader([]byte("plain text, not gzip"))); err == nil {
		t.Error("text was decompressed")
	}
}

// A file that ends within the header of a member is cut off, wherever it ends and
// whatever is before.
func TestCutHeader(t *testing.T) {
	const hasName, hasComment = 8, 16
	plain := member(t, []byte("some text"))
	named := append(slices.Clone(plain[:10]), "text.txt\x00comment\x00"...)
	named[3] = hasName | hasComment
	for name, header := range map[string][]byte{"plain": plain[:10], "named": named} {
		for cut := len(gzipMagic); cut <= len(header); cut++ {
			for _, before := range [][]byte{nil, plain} {
				if text, err := readFile(slices.Concat(before, header[:cut])); !errors.Is(err, io.ErrUnexpectedEOF) {
					t.Errorf("%s, %d of %d bytes after %d: %d bytes, %v", name, cut, len(header), len(before), len(text), err)
				}
			}
		}
	}
}
