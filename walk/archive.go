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
		return nil, fmt.Errorf("this is no archive of NumPy, or it was not copied completely: %w", err)
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
	starts, err := readNumbers(ctx, files, "indptr")
	if err != nil {
		return nil, err
	}
	ends, err := readNumbers(ctx, files, "indices")
	if err != nil {
		return nil, err
	}
	values, err := readNumbers(ctx, files, "data")
	if err != nil {
		return nil, err
	}
	e, err := compressedRows(starts, ends, values, o)
	if err != nil {
		return nil, err
	}
	if ids := files["IDs.npy"]; ids != nil {
		names, err := readStrings(ctx, ids)
		if err == nil {
			err = checkNames(names, int(e.given))
		}
		if err != nil {
			return nil, err
		}
		e.rename(names)
	}
	return e, nil
}

// compressedRows returns the edges of a matrix in the form CSR: those of row i are the ones from starts[i] on.
func compressedRows(starts, ends, values []float64, o ReadOptions) (*edges, error) {
	nodes := len(starts) - 1
	if nodes < 1 || nodes > maxNodes || starts[0] != 0 || starts[nodes] != float64(len(ends)) || len(values) != len(ends) {
		return nil, fmt.Errorf("the arrays do not fit together: indptr has %d values, indices %d, data %d", len(starts), len(ends), len(values))
	}
	const bytesPerEdge = 20
	done, err := memory.Room(bytesPerEdge * int64(len(ends)))
	if err != nil {
		return nil, err
	}
	defer done()
	e := &edges{bothWays: !o.Directed, given: uint64(nodes), chunks: []edgeChunk{newChunk(len(ends), o.Weighted)}}
	c, otherValues := &e.chunks[0], false
	for i := range nodes {
		first, end := starts[i], starts[i+1]
		if first > end || end > float64(len(ends)) || first != math.Trunc(first) {
			return nil, fmt.Errorf("indptr[%d]: row %d ends before it starts, or behind the last entry", i+1, i)
		}
		for k := int(first); k < int(end); k++ {
			if to := ends[k]; !(to >= 0 && to < float64(nodes)) || to != math.Trunc(to) {
				return nil, fmt.Errorf("indices[%d] is %v, but the matrix has %d columns", k, to, nodes)
			}
			c.from[k], c.to[k] = uint64(i), uint64(ends[k])
			otherValues = otherValues || values[k] != 1
			if !o.Weighted {
				continue
			}
			if err := checkWeight(values[k]); err != nil {
				return nil, fmt.Errorf("data[%d], in row %d: %w", k, i, err)
			}
			c.weights[k] = float32(values[k])
		}
	}
	e.noteValues("data", otherValues && !o.Weighted)
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

// An array is the head of a file of NumPy, and the bytes behind it.
type array struct {
	kind  byte // i, u, f, b, U or S
	size  int  // bytes of a value
	count int
	order binary.ByteOrder
	data  []byte
}

var arrayHead = regexp.MustCompile(`^\{'descr': '([<>|=])([iufbUS])(\d+)', 'fortran_order': (?:True|False), 'shape': \((\d*),?\), \}\s*$`)

// readArray reads a file with one number or list.
func readArray(ctx context.Context, f *zip.File) (*array, error) {
	opened, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	defer opened.Close()
	r := memory.NewReader(ctx, opened)
	head := make([]byte, 10)
	if _, err := io.ReadFull(r, head); err != nil || string(head[:6]) != "\x93NUMPY" || head[6] != 1 {
		return nil, fmt.Errorf("%s: this is not an array of NumPy", f.Name)
	}
	text := make([]byte, binary.LittleEndian.Uint16(head[8:]))
	if _, err := io.ReadFull(r, text); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, io.ErrUnexpectedEOF)
	}
	m := arrayHead.FindSubmatch(text)
	if m == nil {
		return nil, fmt.Errorf("%s: it is not a list of numbers or words: %.80q", f.Name, text)
	}
	a := &array{kind: m[2][0], count: 1, order: binary.LittleEndian}
	if m[1][0] == '>' {
		a.order = binary.BigEndian
	}
	a.size, err = strconv.Atoi(string(m[3]))
	if err == nil && len(m[4]) > 0 {
		a.count, err = strconv.Atoi(string(m[4]))
	}
	if a.kind == 'U' {
		a.size *= 4
	}
	if err != nil || a.size < 1 || a.size > 1<<16 || a.count > maxNodes*64 {
		return nil, fmt.Errorf("%s: too large: %.80q", f.Name, text)
	}
	if a.data, err = readBody(r, int64(a.count)*int64(a.size)); err != nil {
		return nil, fmt.Errorf("%s: %d values of %d bytes: %w", f.Name, a.count, a.size, err)
	}
	return a, nil
}

// readBody reads all of r, which should be so many bytes: a file may promise more than it has.
func readBody(r io.Reader, size int64) (data []byte, err error) {
	const step = 1 << 20
	for {
		if data, err = memory.Grow(data, step); err != nil {
			return nil, err
		}
		n, err := r.Read(data[len(data) : len(data)+step])
		if data = data[:len(data)+n]; errors.Is(err, io.EOF) { // the checksum was right
			break
		}
		if err != nil {
			return nil, err
		}
	}
	switch {
	case int64(len(data)) > size:
		return nil, errors.New("the file has more")
	case int64(len(data)) < size:
		return nil, io.ErrUnexpectedEOF
	}
	return data, nil
}

// readNumbers reads a list of numbers, all of which a float64 holds.
func readNumbers(ctx context.Context, files map[string]*zip.File, name string) ([]float64, error) {
	f := files[name+".npy"]
	if f == nil {
		return nil, fmt.Errorf("the archive has no array %q, as one of a matrix in the form CSR has", name)
	}
	a, err := readArray(ctx, f)
	if err != nil {
		return nil, err
	}
	done, err := memory.Room(8 * int64(a.count))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	defer done()
	numbers := make([]float64, a.count)
	for i := range numbers {
		var ok bool
		if numbers[i], ok = a.number(a.data[i*a.size:][:a.size]); !ok {
			return nil, fmt.Errorf("%s: values of type %c%d are no numbers that this reads", f.Name, a.kind, a.size)
		}
	}
	return numbers, nil
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
	a, err := readArray(ctx, f)
	if err != nil {
		return nil, err
	}
	var meter memory.Meter
	words := make([]string, a.count)
	for i := range words {
		value := a.data[i*a.size:][:a.size]
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
		words[i] = strings.TrimRight(string(word), "\x00")
		if err := meter.Take(int64(len(words[i])) + 32); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	return words, nil
}
