package walk

import (
	"archive/zip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/w2vcl/w2vcl/internal/memory"
)

// archiveMagic begins archives of NumPy, which are ZIP files.
const archiveMagic = "PK\x03\x04"

// readArchive reads a sparse matrix in the form CSR from an archive of NumPy: the arrays indptr, indices
// and data as SciPy's save_npz writes them or, with the names of the nodes in IDs, PecanPy.
func readArchive(ctx context.Context, r io.ReaderAt, size int64, o ReadOptions) (*edges, error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, fmt.Errorf("this is not a NumPy archive, or it was not copied completely: %w", err)
	}
	files := map[string]*zip.File{}
	for _, f := range z.File {
		files[f.Name] = f
	}
	if format := files["format.npy"]; format != nil {
		names, err := readStrings(ctx, format)
		if err != nil {
			return nil, err
		}
		if len(names) != 1 || names[0] != "csr" {
			return nil, fmt.Errorf("the matrix has the form %q; save it as CSR (tocsr)", names)
		}
	}
	e := &edges{bothWays: !o.Directed, store: store{folder: o.Folder, always: o.always}}
	if err := e.readRows(ctx, files, o); err != nil {
		return nil, errors.Join(err, e.store.close())
	}
	if ids := files["IDs.npy"]; ids != nil {
		names, err := readStrings(ctx, ids)
		if err == nil {
			err = checkNames(names, int(e.given))
		}
		if err != nil {
			return nil, errors.Join(err, e.store.close())
		}
		e.names = names
	}
	return e, nil
}

// checkNames checks the names of the nodes.
func checkNames(names []string, nodes int) error {
	if len(names) != nodes {
		return fmt.Errorf("IDs has %d names, but the matrix has %d rows", len(names), nodes)
	}
	seen := make(map[string]int, len(names))
	for i, name := range names {
		if name == "" || !utf8.ValidString(name) || len(strings.Fields(name)) != 1 {
			return fmt.Errorf("IDs[%d] is %q, which is not a word", i, name)
		}
		if before, ok := seen[name]; ok {
			return fmt.Errorf("IDs[%d] and IDs[%d] are both %q", before, i, name)
		}
		seen[name] = i
	}
	return nil
}

// An array is a file of NumPy: a number or a list.
type array struct {
	name  string
	kind  byte // i, u, f, b, U or S
	size  int  // bytes of a value
	count int
	order binary.ByteOrder

	values io.ReadCloser // behind the head
	store  *store        // that the values go to; nil: none
}

var arrayHead = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\{'descr': '([<>|=])([iufbUS])(\d+)', 'fortran_order': (?:True|False), 'shape': \((\d*),?\), \}\s*$`)
})

// openArray reads the head of a file.
func openArray(ctx context.Context, f *zip.File) (*array, error) {
	opened, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	a, err := readHead(struct {
		io.Reader
		io.Closer
	}{memory.NewReader(ctx, opened), opened}, f)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", f.Name, err), opened.Close())
	}
	return a, nil
}

func readHead(r io.ReadCloser, f *zip.File) (*array, error) {
	head := make([]byte, 10)
	if _, err := io.ReadFull(r, head); err != nil || string(head[:6]) != "\x93NUMPY" || head[6] != 1 {
		return nil, errors.New("this is not a NumPy array")
	}
	text := make([]byte, binary.LittleEndian.Uint16(head[8:]))
	if _, err := io.ReadFull(r, text); err != nil {
		return nil, io.ErrUnexpectedEOF
	}
	m := arrayHead().FindSubmatch(text)
	if m == nil {
		return nil, fmt.Errorf("it is not a list of numbers or words: %.80q", text)
	}
	a := &array{name: f.Name, kind: m[2][0], count: 1, order: binary.LittleEndian, values: r}
	if m[1][0] == '>' {
		a.order = binary.BigEndian
	}
	var err error
	a.size, err = strconv.Atoi(string(m[3]))
	if err == nil && len(m[4]) > 0 {
		a.count, err = strconv.Atoi(string(m[4]))
	}
	if a.kind == 'U' {
		a.size *= 4
	}
	if err != nil || a.size < 1 || a.size > 1<<16 || a.count > maxNodes*64 {
		return nil, fmt.Errorf("the array is too large: %.80q", text)
	}
	if promised := uint64(a.count) * uint64(a.size); promised > f.UncompressedSize64 || promised > mostPacked*(f.CompressedSize64+1) {
		return nil, fmt.Errorf("%d values of %d bytes: %w", a.count, a.size, io.ErrUnexpectedEOF)
	}
	return a, nil
}

// mostPacked is how many bytes Deflate packs into one at most. A file that promises more is not believed.
const mostPacked = 1032

// each calls visit with all values, some at a time, and closes the array. first is the number of the first of them.
func (a *array) each(visit func(first int, values []byte) error) (err error) {
	defer func() {
		err = errors.Join(err, a.values.Close())
		if err != nil && !strings.Contains(err.Error(), a.name) {
			err = fmt.Errorf("%s: %w", a.name, err)
		}
	}()
	together := max(1<<20/a.size, 1)
	buffer := make([]byte, min(together, a.count)*a.size)
	for first := 0; first < a.count; first += together {
		values := buffer[:min(together, a.count-first)*a.size]
		if _, err := io.ReadFull(a.values, values); err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				err = fmt.Errorf("%d values of %d bytes: %w", a.count, a.size, io.ErrUnexpectedEOF)
			}
			return err
		}
		if err := visit(first, values); err != nil {
			return err
		}
		a.store.giveBack()
	}
	var more [1]byte
	switch n, err := io.ReadFull(a.values, more[:]); {
	case n > 0:
		return fmt.Errorf("%d values of %d bytes: the file has more", a.count, a.size)
	case !errors.Is(err, io.EOF): // the checksum was wrong
		return err
	}
	return nil
}

// eachNumber is each for numbers, all of which a float64 holds.
func (a *array) eachNumber(visit func(i int, x float64) error) error {
	return a.each(func(first int, values []byte) error {
		for i := first; len(values) > 0; i++ {
			x, ok := a.number(values[:a.size])
			if !ok {
				return fmt.Errorf("values of type %c%d cannot be read as numbers", a.kind, a.size)
			}
			if err := visit(i, x); err != nil {
				return err
			}
			values = values[a.size:]
		}
		return nil
	})
}

// number returns the number in some bytes.
func (a *array) number(b []byte) (float64, bool) {
	switch [2]byte{a.kind, byte(min(a.size, 255))} {
	case [2]byte{'b', 1}, [2]byte{'u', 1}:
		return float64(b[0]), true
	case [2]byte{'i', 1}:
		return float64(int8(b[0])), true
	case [2]byte{'u', 2}:
		return float64(a.order.Uint16(b)), true
	case [2]byte{'i', 2}:
		return float64(int16(a.order.Uint16(b))), true
	case [2]byte{'u', 4}:
		return float64(a.order.Uint32(b)), true
	case [2]byte{'i', 4}:
		return float64(int32(a.order.Uint32(b))), true
	case [2]byte{'u', 8}:
		return float64(a.order.Uint64(b)), true
	case [2]byte{'i', 8}:
		return float64(int64(a.order.Uint64(b))), true
	case [2]byte{'f', 4}:
		return float64(math.Float32frombits(a.order.Uint32(b))), true
	case [2]byte{'f', 8}:
		return math.Float64frombits(a.order.Uint64(b)), true
	}
	return 0, false
}

// readStrings reads a list of words, or of numbers as words.
func readStrings(ctx context.Context, f *zip.File) ([]string, error) {
	a, err := openArray(ctx, f)
	if err != nil {
		return nil, err
	}
	var meter memory.Meter
	var words []string
	return words, a.each(func(_ int, values []byte) error {
		for ; len(values) > 0; values = values[a.size:] {
			word := a.word(values[:a.size])
			if err := meter.Take(int64(len(word)) + 32); err != nil {
				return err
			}
			words = append(words, word)
		}
		return nil
	})
}

// word returns the word in some bytes.
func (a *array) word(value []byte) string {
	var word []byte
	switch a.kind {
	case 'S':
		word = value
	case 'U':
		for ; len(value) > 0; value = value[4:] {
			word = utf8.AppendRune(word, rune(a.order.Uint32(value)))
		}
	default:
		n, _ := a.number(value)
		word = strconv.AppendFloat(word, n, 'f', -1, 64)
	}
	return strings.TrimRight(string(word), "\x00")
}
