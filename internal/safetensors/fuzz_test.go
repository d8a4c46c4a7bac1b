package safetensors

import (
	"bytes"
	"encoding/binary"
	"io"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"
)

// FuzzOpen reads headers of any JSON, with the right length and, where there is a
// place for it, the right checksum: bytes alone would never get so far.
func FuzzOpen(f *testing.F) {
	whole := sealed(f)
	size := binary.LittleEndian.Uint64(whole)
	f.Add(string(whole[8:8+size]), whole[8+size:])
	f.Add(`{"__metadata__":{"xxh64-data":"0000000000000000","xxh64-header":"0000000000000000"}}`, []byte(nil))
	f.Add(`{"a":{"dtype":"F32","shape":[1,-1],"data_offsets":[0,9223372036854775807]},"a":{}}`, []byte("1234"))
	f.Add(`{"a":{"dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,0]}}`, []byte(nil))
	f.Fuzz(func(t *testing.T, header string, data []byte) {
		text := []byte(header)
		if digits := sumDigits(text); digits != nil {
			if at := strings.Index(header, `"`+dataSum+`":"`); at >= 0 {
				copy(text[at+len(dataSum)+4:], hexadecimal(xxhash.Sum64(data)))
			}
			copy(digits, noSum)
			copy(digits, hexadecimal(xxhash.Sum64(text)))
		}
		file, err := Open(bytes.NewReader(append(append(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text...), data...)))
		if err != nil {
			return
		}
		end := int64(0)
		for _, tensor := range file.Tensors {
			if tensor.Size < 0 || end+tensor.Size < end {
				t.Fatalf("tensor %+v", tensor)
			}
			end += tensor.Size
		}
		n, err := io.CopyN(io.Discard, file, end)
		if err == nil {
			err = file.Finish()
		}
		if err == nil && (n != end || int64(len(data)) != end) {
			t.Errorf("%d bytes of tensors in %d bytes were accepted", end, len(data))
		}
	})
}
