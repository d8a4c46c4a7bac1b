package embedding

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/safetensors"
)

const npyMagic = "\x93NUMPY"

// The header of a .npy file is a Python dictionary. NumPy always writes it in this
// form.
var (
	npyType  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`'descr':\s*'([^']*)'`) })
	npyOrder = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`'fortran_order':\s*(True|False)`) })
	npyShape = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`'shape':\s*\(([^)]*)\)`) })
)

// readNPY reads a matrix (V, N) of float32 or float64 in C order. words returns
// its words.
func readNPY(in input, words func() ([]string, error)) (*Table, error) {
	header, err := readNPYHeader(in)
	if err != nil {
		return nil, err
	}
	rows, dim, width, err := parseNPYHeader(header)
	if err != nil {
		return nil, fmt.Errorf("NumPy header %s: %w", shorten([]byte(header)), err)
	}
	vectors, err := memory.Grow[float32](nil, int(in.capacity(rows, dim, int64(width))))
	if err != nil {
		return nil, err
	}
	if vectors, err = appendFloats(vectors, in.Reader, rows*dim, width); err != nil {
		return nil, err
	}
	if err := in.expectEnd(); err != nil {
		return nil, fmt.Errorf("after the matrix of %d by %d values: %w", rows, dim, err)
	}
	names, err := words()
	if err != nil {
		return nil, err
	}
	return newTableWith(names, int(dim), vectors)
}

// readNPYHeader reads the magic bytes, the version, the header's length and the
// header. It returns the header alone.
func readNPYHeader(in input) (string, error) {
	const short, long = 10, 12 // bytes before the header: in version 1; in versions 2 and 3
	start, err := in.Peek(long)
	if err != nil {
		return "", errors.New("the file ends within the NumPy header")
	}
	version := start[6]
	before, length := short, int(binary.LittleEndian.Uint16(start[8:]))
	if version > 1 {
		before, length = long, int(min(binary.LittleEndian.Uint32(start[8:]), 1<<30))
	}
	if version < 1 || version > 3 {
		return "", fmt.Errorf("version %d of NumPy's format cannot be read, only versions 1 to 3", version)
	}
	header, err := in.Peek(min(before+length, in.Size()))
	if err != nil || len(header) < before+length {
		return "", fmt.Errorf("the NumPy header of %d bytes is cut or too long", length)
	}
	in.Discard(len(header))
	return string(header[before:]), nil
}

// parseNPYHeader returns the shape and the width of a value in bytes.
func parseNPYHeader(header string) (rows, dim int64, width int, err error) {
	dtype := npyType().FindStringSubmatch(header)
	order := npyOrder().FindStringSubmatch(header)
	shape := npyShape().FindStringSubmatch(header)
	if dtype == nil || order == nil || shape == nil {
		return 0, 0, 0, errors.New("descr, fortran_order or shape is missing")
	}
	switch dtype[1] {
	case "<f4":
		width = 4
	case "<f8":
		width = 8
	default:
		return 0, 0, 0, fmt.Errorf("values of type %s cannot be read; save vectors.astype(np.float32) instead", dtype[1])
	}
	if order[1] == "True" {
		return 0, 0, 0, errors.New("the matrix is in Fortran order; save np.ascontiguousarray(vectors) instead")
	}
	sides := strings.Split(strings.TrimSuffix(strings.ReplaceAll(shape[1], " ", ""), ","), ",")
	if len(sides) != 2 {
		return 0, 0, 0, fmt.Errorf("an array of %d dimensions is not a matrix; it needs 2, words by values", len(sides))
	}
	rows, err = strconv.ParseInt(sides[0], 10, 64)
	if err != nil || rows < 1 || rows > 1<<40 {
		return 0, 0, 0, fmt.Errorf("a matrix cannot have %s rows", sides[0])
	}
	if dim, err = strconv.ParseInt(sides[1], 10, 64); err != nil {
		return 0, 0, 0, fmt.Errorf("a matrix cannot have %s columns", sides[1])
	}
	return rows, dim, width, checkDim(dim)
}

// writeNPY writes the matrix in version 1.0 of the format, as numpy.save does.
func writeNPY(w io.Writer, t *Table) error {
	if _, err := w.Write(npyHeader("<f4", fmt.Sprintf("(%d, %d)", t.Len(), t.Dim))); err != nil {
		return err
	}
	return safetensors.WriteFloats(w, t.Vectors)
}

// npyHeader returns the beginning of a .npy file, version 1: of values of this type ('<f4') and shape ('(2, 3)'), as NumPy writes them.
func npyHeader(kind, shape string) []byte {
	const alignment = 64 // the data begin at a multiple of it, for memory maps
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", kind, shape)
	before := len(npyMagic) + 4
	padding := alignment - (before+len(header)+1)%alignment
	header += strings.Repeat(" ", padding%alignment) + "\n"

	start := append([]byte(npyMagic), 1, 0)
	start = binary.LittleEndian.AppendUint16(start, uint16(len(header)))
	return append(start, header...)
}
