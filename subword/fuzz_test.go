package subword

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"testing"

	"github.com/w2vcl/w2vcl/internal/safetensors"
)

// FuzzRead reads files of any encoder with right checksums: about is the description,
// data the bytes of the tensors. The tensors have the shapes that the description
// asks for, if there are so many bytes.
func FuzzRead(f *testing.F) {
	for _, e := range trained(f) {
		_, file := saved(f, e)
		h := openHostile(f, file)
		about, err := json.Marshal(h.about)
		if err != nil {
			f.Fatal(err)
		}
		var data []byte
		for _, tensor := range h.tensors {
			data = append(data, h.data[tensor.Name]...)
		}
		f.Add(string(about), data, uint8(len(h.data["alphabet"])))
		f.Add(string(about), data, uint8(0))
	}
	for _, about := range []string{
		`{"version":1,"kind":"ngrams","ngrams":{"Dim":1,"Buckets":4294967296}}`,
		`{"version":1,"kind":"ngrams","ngrams":{"Dim":1,"Shortest":1,"Longest":9223372036854775807,"Buckets":1}}`,
		`{"version":1,"kind":"cnn","network":{"Dim":1,"CharDim":1,"Widths":[1,1],"Filters":[1],"Spelling":{"Gram":[9223372036854775807],"Limit":9223372036854775807}}}`,
		`{"version":1,"kind":"cnn","network":{"Dim":1,"CharDim":1,"Widths":[1,2],"Filters":[1,2],"Raw":true,"Spelling":{"Gram":[1],"Limit":9223372036854775807}}}`,
	} {
		f.Add(about, make([]byte, 64), uint8(4))
	}
	f.Fuzz(func(t *testing.T, about string, data []byte, alphabet uint8) {
		var d description
		if json.Unmarshal([]byte(about), &d) != nil {
			d = description{}
		}
		tensors := tensorsOf(&d, len(data), int(alphabet))
		var file bytes.Buffer
		err := safetensors.WriteSealed(&file, map[string]string{metadataKey: about}, tensors, func(w io.Writer) error {
			_, err := w.Write(data)
			return err
		})
		if err != nil {
			t.Skip()
		}
		if e, err := read(bytes.NewReader(file.Bytes()), int64(file.Len())); err != nil || e.Dim() > 1<<16 {
			return
		}
		if _, err := composedBy(file.Bytes()); err != nil {
			t.Errorf("an encoder that was read does not compose: %v", err)
		}
	})
}

// tensorsOf are the tensors of a description, in the order of the files, of so many
// bytes; alphabet bytes or numbers of buckets come first.
func tensorsOf(d *description, size, alphabet int) (tensors []safetensors.Tensor) {
	add := func(name, kind string, shape ...int) {
		bytes := 1
		t := safetensors.Tensor{Name: name, Type: kind}
		for _, n := range shape {
			if n < 0 || n > size {
				return
			}
			bytes = min(bytes*n, size+1)
			t.Shape = append(t.Shape, int64(n))
		}
		if kind == safetensors.Float32 {
			bytes *= 4
		}
		if bytes > size {
			return
		}
		t.Size = int64(bytes)
		size -= bytes
		tensors = append(tensors, t)
	}
	switch {
	case d.Network != nil:
		o, err := d.Network.withDefaults()
		if err != nil || len(o.Widths) > 8 {
			return nil
		}
		alphabet = min(alphabet, size)
		features := 0
		for _, filters := range o.Filters {
			features += min(filters, size)
		}
		add("alphabet", safetensors.Uint8, alphabet)
		if !o.Raw {
			add("moments.mean", safetensors.Float32, features)
			add("moments.scale", safetensors.Float32, features)
		}
		add("offset", safetensors.Float32, o.Dim)
		symbols := unknown + len(o.Spelling.Gram) // one, and one more for each line break
		if alphabet > 0 {
			symbols += (alphabet + 1) / 2
		}
		add("symbols", safetensors.Float32, symbols, o.CharDim)
		for i, width := range o.Widths {
			add(fmt.Sprintf("filters%d.width%d", i, width), safetensors.Float32, min(width, size)*min(o.CharDim, size)+1, o.Filters[i])
		}
		add("weights", safetensors.Float32, features+1, o.Dim)
	case d.NGrams != nil:
		add("buckets", safetensors.Uint8, 4*alphabet)
		add("offset", safetensors.Float32, d.NGrams.Dim)
		add("ngrams", safetensors.Float32, alphabet, d.NGrams.Dim)
	}
	return tensors
}
