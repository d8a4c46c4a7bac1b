package safetensors

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

func TestRoundTrip(t *testing.T) {
	random := rand.New(rand.NewPCG(rand.Uint64(), 0))
	var tensors []Tensor
	var want [][]float32
	for i, n := range []int{0, 1, 1<<14 - 1, 1 << 14, 2*1<<14 + 1} {
		values := make([]float32, n)
		for j := range values {
			values[j] = math.Float32frombits(random.Uint32()) // NaN of any kind, too
		}
		want = append(want, values)
		// JSON sorts the tensors by name; their bytes are in another order.
		tensors = append(tensors, Tensor{string(rune('z' - i)), Float32, []int64{int64(n)}, 4 * int64(n)})
	}
	metadata := map[string]string{"text": "\"quotes\"\nand é", "": ""}
	var file bytes.Buffer
	if err := writeTestHeader(&file, metadata, tensors); err != nil {
		t.Fatal(err)
	}
	if file.Len()%8 != 0 {
		t.Errorf("the data begin at byte %d, which is not aligned", file.Len())
	}
	for _, values := range want {
		start := file.Len()
		if err := WriteFloats(&file, values); err != nil {
			t.Fatal(err)
		}
		for j, x := range values {
			if bits := binary.LittleEndian.Uint32(file.Bytes()[start+4*j:]); bits != math.Float32bits(x) {
				t.Errorf("value %d is written as %x", j, bits)
			}
		}
	}
	got, err := Open(&file)
	if err != nil || got.Sealed || !reflect.DeepEqual(got.Metadata, metadata) || !reflect.DeepEqual(got.Tensors, tensors) {
		t.Fatalf("read %+v %v, want %v %v", got, err, metadata, tensors)
	}
	for i := range want {
		got := make([]float32, len(want[i]))
		if err := ReadFloats(&file, got); err != nil {
			t.Fatal(err)
		}
		for j := range got {
			if math.Float32bits(got[j]) != math.Float32bits(want[i][j]) {
				t.Fatalf("tensor %d, value %d: %v, want %v", i, j, got[j], want[i][j])
			}
		}
	}
	if err := ReadFloats(&file, make([]float32, 1)); err != io.EOF {
		t.Errorf("after the end: %v", err)
	}
}

// writeTestHeader writes the header of a file without checksums.
func writeTestHeader(w io.Writer, metadata map[string]string, tensors []Tensor) error {
	header, err := encodeHeader(metadata, tensors)
	if err != nil {
		return err
	}
	return writeHeader(w, header)
}

func TestReadHeaderRefuses(t *testing.T) {
	framed := func(header string) string {
		return string(binary.LittleEndian.AppendUint64(nil, uint64(len(header)))) + header
	}
	for _, test := range []struct{ name, file, want string }{
		{"empty", "", "cut"},
		{"cut length", "1234567", "cut"},
		{"cut header", framed("{}")[:9], "cut after 1 of its 2 bytes"},
		{"length", strings.Repeat("\xff", 8), "more than the format allows"},
		{"no JSON", framed("hello"), "invalid character"},
		{"metadata of another type", framed(`{"__metadata__":{"a":1}}`), "__metadata__"},
		{"range", framed(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}}`), "are not a range"},
		{"negative", framed(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[-4,0]}}`), "are not a range"},
		{"gap", framed(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}`), "begins at byte 4 instead of 0"},
		{"size", framed(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}}`), "it has 4 bytes, but shape [2] of type F32 takes 8"},
		{"huge shape", framed(`{"a":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]}}`), "is not possible"},
		{"negative shape", framed(`{"a":{"dtype":"F32","shape":[-1,-1],"data_offsets":[0,4]}}`), "is not possible"},
		{"overlap", framed(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`), "begins at byte 0 instead of 4"},
	} {
		if _, err := Open(strings.NewReader(test.file)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", test.name, err, test.want)
		}
	}
}
