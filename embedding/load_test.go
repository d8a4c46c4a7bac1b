package embedding

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/internal/memory"
)

// float32s returns the values as little-endian bytes.
func float32s(values ...float32) string { return string(memory.BytesOf(values)) }

func npyFile(header, data string) string {
	return npyMagic + "\x01\x00" + string(binary.LittleEndian.AppendUint16(nil, uint16(len(header)))) + header + data
}

// safetensorsFile returns the content of a safetensors file.
func safetensorsFile(header, data string) string {
	return string(binary.LittleEndian.AppendUint64(nil, uint64(len(header)))) + header + data
}

// TestLoadUnusual reads valid files that differ from the ones that Save writes.
func TestLoadUnusual(t *testing.T) {
	want := mustTable(t, []string{"a", "b"}, 2, []float32{1, 2, 3, 4})
	spaced := mustTable(t, []string{"a", "at name@x", ". . ."}, 2, []float32{1, 2, 3, 4, 5, 6})
	replaced := mustTable(t, []string{"a", "b\uFFFD\uFFFD"}, 2, []float32{1, 2, 3, 4})
	for name, c := range map[string]struct {
		content string
		want    *Table
	}{
		"spaces before the line break":    {"2 2\na 1 2 \nb 3 4 \n", want},
		"byte order mark":                 {"\ufeff2 2\na 1 2\nb 3 4\n", want},
		"tabs, carriage returns":          {"2 2\r\na\t1\t2\r\nb\t3\t4\r\n", want},
		"no line break at the end":        {"2 2\na 1 2\nb 3 4", want},
		"empty lines at the end":          {"2 2\na 1 2\nb 3 4\n\n \n", want},
		"two spaces":                      {"a  1 2\nb 3   4\n", want},
		"numbers of all kinds":            {"a +1 0.2e1\nb 3.00000000000000000000000 4E+0\n", want},
		"binary without line breaks":      {"2 2\na " + float32s(1, 2) + "b " + float32s(3, 4), want},
		"binary with line breaks":         {"2 2\na " + float32s(1, 2) + "\nb " + float32s(3, 4) + "\n", want},
		"text not UTF-8":                  {"2 2\na 1 2\nb\xff\xfe 3 4\n", replaced},
		"binary not UTF-8":                {"2 2\na " + float32s(1, 2) + "b\xff\xfe " + float32s(3, 4), replaced},
		"GloVe words with spaces":         {"a 1 2\nat name@x 3 4\n. . . 5 6\n", spaced},
		"npy version 2":                   {strings.Replace(npyFile("\x00\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }\n", float32s(1, 2, 3, 4)), "\x01\x00>", "\x02\x00<", 1), want},
		"safetensors with another tensor": {safetensorsFile(`{"words":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},"z":{"dtype":"F32","shape":[1],"data_offsets":[3,7]},"vectors":{"dtype":"F32","shape":[2,2],"data_offsets":[7,23]}}`, "a\nb"+float32s(9)+float32s(1, 2, 3, 4)), want},
		"projector":                       {"1\t2\n3\t4\n", want},
		"projector, carriage returns":     {"1\t2\r\n3\t4\r\n", want},
		"GloVe":                           {"a 1 2\nb 3 4\n", want},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "any")
			write(t, path, []byte(c.content))
			write(t, path+".words.txt", []byte("a\nb\n"))
			write(t, path+".metadata.tsv", []byte("Word\tCount\na\t10\nb\t5\n"))
			got, err := Load(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			requireEqual(t, got, c.want)
		})
	}
}

func TestLoadErrors(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	values := func(n int) string { return float32s(make([]float32, n)...) }
	tensors := func(vectors, words string) string {
		return safetensorsFile(`{"vectors":`+vectors+`,"words":`+words+`}`, float32s(1, 2, 3, 4)+"a\nb")
	}
	const goodVectors = `{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}`
	const goodWords = `{"dtype":"U8","shape":[3],"data_offsets":[16,19]}`
	for name, c := range map[string]struct{ content, want string }{
		"empty":                         {"", "the file is empty"},
		"empty line":                    {"\n", "at least one word"},
		"only a header":                 {"2 2\n", "the header promises 2 words, but the file ends after 0"},
		"count 0":                       {"0 2\n", "line 1: the header promises 0 words"},
		"count negative":                {"-3 2\na 1 2\n", "line 1: the header promises -3 words"},
		"dimension 0":                   {"2 0\na\nb\n", "line 1: the header's dimension 0"},
		"dimension negative":            {"2 -2\na 1 2\n", "line 1: the header's dimension -2"},
		"dimension absurd":              {"2 99999999999999999999\na 1 2\n", "line 1: the header's dimension 9223372036854775807"},
		"count absurd":                  {"99999999999999999999 2\na 1 2\n", "the header promises 9223372036854775807 words, but the file ends after 1"},
		"count too large":               {"3 2\na 1 2\nb 3 4\n", "the header promises 3 words, but the file ends after 2"},
		"count too small":               {"1 2\na 1 2\nb 3 4\n", "line 3: the header promises 1 words, but the file holds more"},
		"dimension too large":           {"2 3\na 1 2\nb 3 4\n", `line 2: word "a": 2 values, but the header says 3`},
		"dimension too small":           {"2 1\na 1 2\nb 3 4\n", `line 2: word "a": 2 values, but the header says 1`},
		"ragged":                        {"a 1 2\nb 3\n", `line 2: word "b": 1 values, but the first line has 2`},
		"ragged, too long":              {"a 1 2\nb 3 4 5\n", `line 2: word "b": 3 values, but the first line has 2`},
		"a word of an odd space":        {"a 1 2\n\f 1 x\n", `line 2: word "\f": value 2: "x" is not a number`},
		"a header and an odd space":     {"2 2\n\u00a0 1 x\n", `line 2: word "\u00a0": value 2: "x" is not a number`},
		"word alone":                    {"hello\n", "line 1: "},
		"prose":                         {"It was a dark night.\n", `line 1: word "It": value 1: "was" is not a number`},
		"empty line between":            {"a 1 2\n\nb 3 4\n", "line 2: the line is empty"},
		"empty word":                    {"a 1 2\n 3 4\n", "line 2: the line begins with a space"},
		"empty word, wide":              {"a 1 2\n 3 4 5\n", "line 2: the line begins with a space"},
		"only spaces before a word":     {"a 1\n  1\n", "line 2: the line begins with a space"},
		"not a number":                  {"2 2\na 1 x\nb 3 4\n", `line 2: word "a": value 2: "x" is not a number`},
		"two points":                    {"a 1 2\nb 1..5 3\n", `value 1: "1..5" is not a number`},
		"no exponent":                   {"a 1 2\nb 1e 3\n", `"1e" is not a number`},
		"NaN in text":                   {"2 2\na 1 nan\nb 3 4\n", `line 2: word "a": value 2: the value is nan`},
		"infinity in text":              {"2 2\na 1 2\nb -Inf 4\n", `line 3: word "b": value 1: the value is -Inf`},
		"out of range":                  {"2 2\na 1 2\nb 1e39 4\n", `"1e39" is out of the range of float32`},
		"repeated word":                 {"2 2\na 1 2\na 3 4\n", `word "a" occurs twice: it is word 1 and word 2`},
		"repeated in binary":            {"2 1\na " + float32s(1) + "a " + float32s(1), `word "a" occurs twice`},
		"binary cut in a vector":        {"2 2\na " + float32s(1, 2) + "\nb " + float32s(3), `vector of word 2 of 2 ("b"): the file ends after 1 of 2 values`},
		"binary cut before a word":      {"2 2\na " + float32s(1, 2) + "\n", "word 2 of 2: the file ends here"},
		"binary cut in a word":          {"2 2\na " + float32s(1, 2) + "\nb", "word 2 of 2: the file ends within it"},
		"binary count too small":        {"1 2\na " + float32s(1, 2) + "\nb " + float32s(3, 4) + "\n", "after the last of the 1 words that the header promises: there is more data"},
		"binary dimension too small":    {"2 2\na " + float32s(1, 2, 0) + "\nb " + float32s(3, 4, 0) + "\n", "word 2 of 2: no word where one should begin"},
		"binary dimension too large":    {"2 3\na " + float32s(1, 2) + "\nb " + float32s(3, 4) + "\n", "the file ends"},
		"binary dimension absurd":       {"2 1000000\na " + values(64), "the file ends after 64 of 1000000 values"},
		"binary count absurd":           {"9000000000000000000 2\na " + float32s(1, 2), "word 2 of 9000000000000000000: the file ends"},
		"NaN in binary":                 {"2 2\na " + float32s(1, 2) + "\nb " + float32s(3, nan) + "\n", `vector of word 2 of 2 ("b"): value 2 is NaN`},
		"infinity in binary":            {"1 1\na " + float32s(inf), "value 1 is +Inf"},
		"binary without words":          {"2 2\n " + float32s(1, 2), "word 1 of 2: no word where one should begin"},
		"xz":                            {"\xfd7zXZ\x00", "compressed with xz"},
		"broken zstd":                   {"\x28\xb5\x2f\xfd", "EOF"},
		"pickle":                        {"\x80\x04\x95", "save_word2vec_format"},
		"fastText model":                {"\xba\x16\x4f\x2f\x0c", "fastText model"},
		"NUL bytes":                     {"\x00\x01\x02", "NUL bytes"},
		"broken gzip":                   {"\x1f\x8b\x00\x00", "gzip"},
		"npy cut in the header":         {npyMagic + "\x01\x00", "the file ends within the NumPy header"},
		"npy header too long":           {npyMagic + "\x01\x00\xff\xffxx", "cut or too long"},
		"npy version":                   {npyMagic + "\x09\x00\x01\x00xxx", "version 9"},
		"npy without shape":             {npyFile("{'descr': '<f4'}", ""), "descr, fortran_order or shape is missing"},
		"npy big endian":                {npyFile("{'descr': '>f4', 'fortran_order': False, 'shape': (2, 2), }", ""), "type >f4"},
		"npy Fortran order":             {npyFile("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), }", ""), "ascontiguousarray"},
		"npy of one dimension":          {npyFile("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", ""), "array of 1 dimensions"},
		"npy without rows":              {npyFile("{'descr': '<f4', 'fortran_order': False, 'shape': (0, 2), }", ""), "0 rows"},
		"npy absurd":                    {npyFile("{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000, 1000000), }", "1234"), "the file ends after 1 of 1000000000000000000 values"},
		"npy beyond absurd":             {npyFile("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999, 2), }", ""), "99999999999999999999 rows"},
		"npy cut":                       {npyFile("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }", float32s(1, 2, 3)), "ends after 3 of 4 values"},
		"npy with more data":            {npyFile("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }", float32s(1, 2, 3)), "there is more data"},
		"npy with NaN":                  {npyFile("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1), }", float32s(1, nan)), "value 2 is NaN"},
		"npy float64 out of range":      {npyFile("{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1), }", "\xff\xff\xff\xff\xff\xff\xef\x7f"), "value 1 is +Inf"},
		"npy of other size than words":  {npyFile("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1), }", float32s(1)), "1 vectors, but 2 words"},
		"safetensors cut in the header": {"\xff\x00\x00\x00\x00\x00\x00\x00{", "the file is cut after 1 of its 255 bytes"},
		"safetensors absurd header":     {"\xff\xff\xff\xff\xff\xff\xff\x00{", "more than the format allows"},
		"safetensors not JSON":          {safetensorsFile("{nonsense}", ""), "safetensors header: invalid character"},
		"safetensors without vectors":   {safetensorsFile("{}", ""), `there is no tensor "vectors"`},
		"safetensors type":              {tensors(`{"dtype":"F16","shape":[2,4],"data_offsets":[0,16]}`, goodWords), `tensor "vectors": type F16`},
		"safetensors shape":             {tensors(`{"dtype":"F32","shape":[4],"data_offsets":[0,16]}`, goodWords), "with 1 dimensions"},
		"safetensors size":              {tensors(`{"dtype":"F32","shape":[2,3],"data_offsets":[0,16]}`, goodWords), `tensor "vectors": it has 16 bytes, but shape [2 3] of type F32 takes 24`},
		"safetensors absurd shape":      {tensors(`{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,16]}`, goodWords), "shape [4611686018427387904 4] is not possible"},
		"safetensors dimension 0":       {tensors(`{"dtype":"F32","shape":[2,0],"data_offsets":[0,0]}`, `{"dtype":"U8","shape":[3],"data_offsets":[0,3]}`), "dimension 0"},
		"safetensors gap":               {tensors(goodVectors, `{"dtype":"U8","shape":[2],"data_offsets":[17,19]}`), `tensor "words" begins at byte 17 instead of 16`},
		"safetensors words":             {tensors(goodVectors, `{"dtype":"I8","shape":[3],"data_offsets":[16,19]}`), `tensor "words": type I8`},
		"safetensors backwards":         {tensors(goodVectors, `{"dtype":"U8","shape":[3],"data_offsets":[19,16]}`), "are not a range"},
		"safetensors cut in words":      {strings.TrimSuffix(tensors(goodVectors, goodWords), "b"), `tensor "words": the file is cut`},
		"safetensors with more data":    {tensors(goodVectors, goodWords) + "x", "there are more bytes than its tensors have"},
		"safetensors word count":        {tensors(goodVectors, `{"dtype":"U8","shape":[1],"data_offsets":[16,17]}`)[:len(tensors(goodVectors, `{"dtype":"U8","shape":[1],"data_offsets":[16,17]}`))-2], "2 vectors, but 1 words"},
		"projector ragged":              {"1\t2\n3\n", "line 2: 1 values, but the first line has 2"},
		"projector not a number":        {"1\t2\n3\tx\n", `line 2: value 2: "x" is not a number`},
		"projector of other size":       {"1\t2\n", "1 vectors, but 2 words"},
		"projector NaN":                 {"1\t2\n3\tnan\n", "line 2: value 2: the value is nan"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "any")
			write(t, path, []byte(c.content))
			write(t, path+".words.txt", []byte("a\nb\n"))
			write(t, path+".metadata.tsv", []byte("a\nb\n"))
			table, err := Load(t.Context(), path)
			if err == nil {
				t.Fatalf("no error, but %v", table)
			}
			if !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %q, want the path and %q", err, c.want)
			}
		})
	}
}

func TestLoadPathErrors(t *testing.T) {
	dir := t.TempDir()
	if _, err := Load(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "is a folder") {
		t.Errorf("folder: error %v", err)
	}
	if _, err := Load(t.Context(), filepath.Join(dir, "none")); err == nil || !strings.Contains(err.Error(), "none") {
		t.Errorf("missing file: error %v", err)
	}
	path := filepath.Join(dir, "m.npy")
	if err := Save(path, golden(t), ""); err != nil {
		t.Fatal(err)
	}
	write(t, WordsPath(path, NPY), []byte("a\n\nb\nc\n"))
	if _, err := Load(t.Context(), path); err == nil || !strings.Contains(err.Error(), "m.words.txt: line 2 is empty") {
		t.Errorf("empty word: error %v", err)
	}
	if err := os.Remove(WordsPath(path, NPY)); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(t.Context(), path); err == nil || !strings.Contains(err.Error(), "the words are missing") {
		t.Errorf("missing words: error %v", err)
	}
}
