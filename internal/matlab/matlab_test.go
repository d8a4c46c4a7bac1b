package matlab

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io"
	"math"
	"os"
	"reflect"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/klauspost/compress/zlib" // several times as fast as the standard library's

	"github.com/w2vcl/w2vcl/internal/machine"
	"github.com/w2vcl/w2vcl/internal/memory"
)

func content(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestScipy reads files that scipy wrote (testdata/make_golden.py).
func TestScipy(t *testing.T) {
	var golden map[string]struct {
		Rows, Columns int
		Entries       [][3]float64
	}
	if err := json.Unmarshal(content(t, "golden.json"), &golden); err != nil {
		t.Fatal(err)
	}
	if len(golden) < 14 {
		t.Fatalf("only %d matrices", len(golden))
	}
	for _, file := range []string{"plain.mat", "compressed.mat"} {
		for name, g := range golden {
			want := &Matrix{Rows: g.Rows, Columns: g.Columns}
			for _, e := range g.Entries {
				want.Entries = append(want.Entries, Entry{uint32(e[0]), uint32(e[1]), e[2]})
			}
			got, err := Read(t.Context(), bytes.NewReader(content(t, file)), name)
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s %s: %v, %v; want %v", file, name, got, err, want)
			}
		}
		// Without a name, Read takes the first matrix of real numbers in two dimensions.
		if m, err := Read(t.Context(), bytes.NewReader(content(t, file)), ""); err != nil || m.Rows != 9 || m.Columns != 7 {
			t.Errorf("%s: %v, %v", file, m, err)
		}
	}
}

func TestErrors(t *testing.T) {
	plain := content(t, "plain.mat")
	order := bytes.Clone(plain)
	copy(order[126:], "XX")
	for name, c := range map[string]struct {
		content []byte
		matrix  string
		want    string
	}{
		"empty":        {nil, "network", "not a MATLAB file of version 5"},
		"text":         {[]byte("1 2\n2 3\n"), "network", "not a MATLAB file of version 5"},
		"HDF5":         {[]byte("MATLAB 7.3 MAT-file, Platform"), "network", "save it with -v7"},
		"header":       {plain[:100], "network", "cut off after 100 bytes"},
		"order":        {order, "network", `byte order mark is "XX"`},
		"no matrix":    {plain, "graph", `no matrix "graph" in the file, which holds title, cells, complex, cube, network`},
		"no variables": {plain[:128], "graph", "which holds nothing"},
		"text matrix":  {plain, "title", "title is not a matrix of real numbers"},
		"cells":        {plain, "cells", "cells is not a matrix of real numbers"},
		"complex":      {plain, "complex", "complex true"},
		"dimensions":   {plain, "cube", "3 dimensions"},
	} {
		_, err := Read(t.Context(), bytes.NewReader(c.content), c.matrix)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
}

// TestCut: a file that ends early is an error, unless it ends between two
// variables.
func TestCut(t *testing.T) {
	for _, file := range []string{"plain.mat", "compressed.mat"} {
		whole := content(t, file)
		for n := range whole[:len(whole)-1] {
			m, err := Read(t.Context(), bytes.NewReader(whole[:n]), "float32")
			if err == nil {
				t.Fatalf("%s: %d of %d bytes: read %v", file, n, len(whole), m)
			}
		}
	}
}

// encode writes elements with the given byte order.
func encode(order binary.AppendByteOrder, kind uint32, values any) []byte {
	var data bytes.Buffer
	if err := binary.Write(&data, order.(binary.ByteOrder), values); err != nil {
		panic(err)
	}
	b := order.AppendUint32(nil, kind)
	b = order.AppendUint32(b, uint32(data.Len()))
	b = append(b, data.Bytes()...)
	return append(b, make([]byte, -len(b)&7)...)
}

func sparseFile(order binary.AppendByteOrder, mark string, rows, starts []int32, values []float64, dims [2]int32) []byte {
	file := append([]byte("MATLAB 5.0 MAT-file"), make([]byte, 128)...)[:128]
	copy(file[126:], mark)
	var body []byte
	for _, e := range [][]byte{
		encode(order, kindUint32, [2]uint32{classSparse, 0}), encode(order, kindInt32, dims), encode(order, kindInt8, []int8{'g'}),
		encode(order, kindInt32, rows), encode(order, kindInt32, starts), encode(order, kindDouble, values),
	} {
		body = append(body, e...)
	}
	file = order.AppendUint32(file, kindMatrix)
	file = order.AppendUint32(file, uint32(len(body)))
	return append(file, body...)
}

func TestSparse(t *testing.T) {
	want := &Matrix{Rows: 3, Columns: 2, Entries: []Entry{{0, 0, 1.5}, {2, 0, -2}, {1, 1, 4}}}
	little := sparseFile(binary.LittleEndian, "IM", []int32{0, 2, 1, 9}, []int32{0, 2, 3}, []float64{1.5, -2, 4, 8}, [2]int32{3, 2}) // the last row and value are spare, as MATLAB allows
	big := sparseFile(binary.BigEndian, "MI", []int32{0, 2, 1}, []int32{0, 2, 3}, []float64{1.5, -2, 4}, [2]int32{3, 2})
	for name, file := range map[string][]byte{"little endian": little, "big endian": big} {
		if got, err := Read(t.Context(), bytes.NewReader(file), "g"); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	for name, c := range map[string]struct {
		rows, starts []int32
		values       []float64
		dims         [2]int32
		want         string
	}{
		"row":      {[]int32{3}, []int32{0, 1}, []float64{1}, [2]int32{3, 1}, "column 1 has an entry in row 4 of 3"},
		"negative": {[]int32{-1}, []int32{0, 1}, []float64{1}, [2]int32{3, 1}, "an entry in no row of 3"},
		"starts":   {[]int32{0}, []int32{0, 1}, []float64{1}, [2]int32{3, 2}, "2 columns, but column starts for 1"},
		"order":    {[]int32{0, 1}, []int32{0, 2, 1}, []float64{1, 1}, [2]int32{3, 2}, "column 2 holds the entries 2 to 1 of 2"},
		"too many": {[]int32{0, 1}, []int32{0, 2}, []float64{1}, [2]int32{3, 1}, "column 1 holds the entries 0 to 2 of 1"},
		"size":     {nil, []int32{0}, nil, [2]int32{-1, 0}, "a dimension of -1"},
	} {
		_, err := Read(t.Context(), bytes.NewReader(sparseFile(binary.LittleEndian, "IM", c.rows, c.starts, c.values, c.dims)), "g")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
}

// FuzzRead: for no content does Read panic or return an entry outside the matrix.
func FuzzRead(f *testing.F) {
	f.Add(content(f, "plain.mat"))
	f.Add(content(f, "compressed.mat"))
	f.Add(sparseFile(binary.BigEndian, "MI", []int32{0, 2, 1}, []int32{0, 2, 3}, []float64{1, math.NaN(), 4}, [2]int32{3, 2}))
	f.Fuzz(func(t *testing.T, file []byte) {
		m, err := Read(t.Context(), bytes.NewReader(file), "")
		if err != nil {
			return
		}
		for _, e := range m.Entries {
			if int(e.Row) >= m.Rows || int(e.Column) >= m.Columns {
				t.Errorf("entry %v of a matrix of %d by %d", e, m.Rows, m.Columns)
			}
		}
	})
}

// compressed returns a file with one compressed element, whose content write makes.
func compressed(t testing.TB, write func(w io.Writer)) []byte {
	t.Helper()
	file := append([]byte("MATLAB 5.0 MAT-file"), make([]byte, 128)...)[:128]
	copy(file[126:], "IM")
	var body bytes.Buffer
	z, err := zlib.NewWriterLevel(&body, zlib.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	write(z)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	file = binary.LittleEndian.AppendUint32(file, kindCompressed)
	file = binary.LittleEndian.AppendUint32(file, uint32(body.Len()))
	return append(file, body.Bytes()...)
}

// bomb writes a matrix whose last element has so many bytes, all the same.
func bomb(t testing.TB, class uint32, rows, columns int32, kind, size uint32, fill byte, before ...[]byte) []byte {
	return compressed(t, func(w io.Writer) {
		o := binary.LittleEndian
		parts := [][]byte{
			o.AppendUint32(o.AppendUint32(nil, kindMatrix), math.MaxUint32),
			encode(o, kindUint32, [2]uint32{class, 0}), encode(o, kindInt32, [2]int32{rows, columns}), encode(o, kindInt8, []int8{'g'}),
		}
		for _, part := range append(append(parts, before...), o.AppendUint32(o.AppendUint32(nil, kind), size)) {
			w.Write(part)
		}
		chunk := bytes.Repeat([]byte{fill}, 1<<20)
		for ; size >= 1<<20; size -= 1 << 20 {
			w.Write(chunk)
		}
		w.Write(chunk[:size])
	})
}

// TestBomb: a small file that says it is a large matrix takes no more memory than
// the matrix has entries, and ends with an error where that is too much.
func TestBomb(t *testing.T) {
	const size = 32 << 20
	flags := make([]byte, size)
	for i, x := range []uint32{kindMatrix, size, kindUint32, size - 16} {
		binary.LittleEndian.PutUint32(flags[4*i:], x)
	}
	debug.FreeOSMemory()
	_, release := memory.NewGuard(machine.Resident() + 24<<20)
	defer release()
	for name, c := range map[string]struct {
		file []byte
		want string // empty: no error, and no entry
	}{
		"all zeros":                   {bomb(t, classDouble+3, 1<<14, 1<<11, kindUint8, size, 0), ""},
		"no zeros":                    {bomb(t, classDouble+3, 1<<14, 1<<11, kindUint8, size, 1), "not enough memory"},
		"more values than dimensions": {bomb(t, classDouble+3, 2, 2, kindUint8, size, 1), "33554432 values in 2 rows and 2 columns"},
		"rows of a sparse matrix":     {bomb(t, classSparse, 2, 2, kindUint8, size, 0), "not enough memory"},
		"columns of a sparse matrix":  {bomb(t, classSparse, 2, size-1, kindUint8, size, 0, encode(binary.LittleEndian, kindInt32, []int32{})), "not enough memory"},
		"flags":                       {compressed(t, func(w io.Writer) { w.Write(flags) }), "flags or dimensions"},
	} {
		if len(c.file) > size/500 {
			t.Fatalf("%s: the file has %d bytes", name, len(c.file))
		}
		m, err := Read(t.Context(), bytes.NewReader(c.file), "g")
		if c.want == "" && (err != nil || len(m.Entries) > 0) || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzSparse: for no numbers in a sparse matrix does Read panic, and its entries are
// within the matrix, in the order of the columns.
func FuzzSparse(f *testing.F) {
	f.Add([]byte{0, 2, 1}, []byte{0, 2, 3}, []byte{1, 2, 3}, int32(3), int32(2), uint8(0), false)
	f.Add([]byte{0, 255, 1}, []byte{3, 2, 3}, []byte{1}, int32(-1), int32(2), uint8(3), true)
	f.Fuzz(func(t *testing.T, rows, starts, values []byte, height, width int32, kind uint8, big bool) {
		var order binary.AppendByteOrder = binary.LittleEndian
		mark := "IM"
		if big {
			order, mark = binary.BigEndian, "MI"
		}
		signed := func(bytes []byte) []int32 {
			numbers := make([]int32, len(bytes))
			for i, b := range bytes {
				numbers[i] = int32(int8(b))
			}
			return numbers
		}
		floats := make([]float64, len(values))
		for i, b := range values {
			floats[i] = float64(int8(b))
		}
		file := sparseFile(order, mark, signed(rows), signed(starts), floats, [2]int32{height, width})
		file[128+8+16+16+16+3] ^= kind // of the row numbers, in one of the byte orders
		m, err := Read(t.Context(), bytes.NewReader(file), "g")
		if err != nil {
			return
		}
		column := uint32(0)
		for _, e := range m.Entries {
			if int(e.Row) >= m.Rows || int(e.Column) >= m.Columns || e.Column < column || e.Value == 0 {
				t.Fatalf("entry %v of a matrix of %d by %d", e, m.Rows, m.Columns)
			}
			column = e.Column
		}
	})
}
