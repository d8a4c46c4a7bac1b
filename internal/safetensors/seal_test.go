package safetensors

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/internal/testfiles"
)

// sealed returns a small file with checksums.
func sealed(t testing.TB) []byte {
	t.Helper()
	values := []float32{1, -2, 3.5}
	var file bytes.Buffer
	err := WriteSealed(&file, map[string]string{"about": `{"version":2}`},
		[]Tensor{{"a", Float32, []int64{3}, 12}, {"b", Uint8, []int64{2}, 2}},
		func(w io.Writer) error {
			if err := WriteFloats(w, values); err != nil {
				return err
			}
			_, err := io.WriteString(w, "xy")
			return err
		})
	if err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

type content struct {
	Metadata map[string]string
	Tensors  []Tensor
	Data     string
}

func readAll(file []byte) (c content, err error) {
	f, err := Open(bytes.NewReader(file))
	if err != nil {
		return c, err
	}
	if !f.Sealed {
		return c, errors.New("no checksums") // what their absence means is for the caller to know
	}
	size := int64(0)
	for _, t := range f.Tensors {
		size += t.Size
	}
	data, err := io.ReadAll(io.LimitReader(f, size))
	if err != nil {
		return c, err
	}
	return content{f.Metadata, f.Tensors, string(data)}, f.Finish()
}

func TestSealed(t *testing.T) {
	file := sealed(t)
	got, err := readAll(file)
	want := content{
		map[string]string{"about": `{"version":2}`}, []Tensor{{"a", Float32, []int64{3}, 12}, {"b", Uint8, []int64{2}, 2}},
		"\x00\x00\x80\x3f\x00\x00\x00\xc0\x00\x00\x60\x40xy",
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("read %+v, %v", got, err)
	}
	for name, c := range map[string]struct {
		old, new, want string
		damaged        bool
	}{
		"metadata":            {`version`, `versiom`, "header is not what was written", true},
		"spaces after":        {`}`, "\t", "", false},
		"checksum of header":  {headerSum + `":"`, headerSum + `":" `, "", true},
		"name of a checksum":  {headerSum, "xxh64-footer", "one of its checksums is missing", true},
		"name of the other":   {dataSum, "xxh64-date", "one of its checksums is missing", true},
		"checksum of nothing": {dataSum, headerSum, "", true},
		"data":                {"xy", "xz", "data are not what was written", true},
		"more data":           {"xy", "xyz", "more bytes", false},
		"less data":           {"xy", "x", "", false},
	} {
		changed := bytes.Replace(file, []byte(c.old), []byte(c.new), 1)
		if _, err := readAll(changed); err == nil || !strings.Contains(err.Error(), c.want) || c.damaged && !errors.Is(err, ErrDamaged) && !strings.Contains(err.Error(), "invalid") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSealedDamaged(t *testing.T) { testfiles.Copies(t, sealed(t), readAll) }
