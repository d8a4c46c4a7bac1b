package textfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/w2vcl/w2vcl/internal/memory"
)

// randomTexts returns texts of many kinds; nil is a record without one.
func randomTexts(rng *rand.Rand, n, longest int) []*string {
	texts := make([]*string, n)
	for i := range texts {
		if rng.IntN(10) == 0 {
			continue
		}
		var b strings.Builder
		for range rng.IntN(longest) {
			b.WriteString([]string{"word ", "zwei\n", "Ünï ", "\"x\" ", "\\", "\t", "日本"}[rng.IntN(7)])
		}
		text := b.String()
		texts[i] = &text
	}
	return texts
}

func joined(texts []*string) string {
	var b strings.Builder
	for _, text := range texts {
		if text != nil {
			b.WriteString(*text + "\n")
		}
	}
	return b.String()
}

func TestJSONLines(t *testing.T) {
	rng := rand.New(rand.NewPCG(rand.Uint64(), 7))
	for _, n := range []int{1, 2, 100, 3000} {
		first := "the first"
		texts := append([]*string{&first}, randomTexts(rng, n, 300)...)
		var lines bytes.Buffer
		for i, text := range texts {
			record := map[string]any{"id": i, "text": text, "meta": map[string]any{"text": "other"}}
			if text == nil && rng.IntN(2) == 0 {
				delete(record, "text")
			}
			line, err := json.Marshal(record)
			if err != nil {
				t.Fatal(err)
			}
			lines.Write(line)
			lines.WriteString([]string{"\n", "\r\n", "\n\n", " \n"}[rng.IntN(4)])
		}
		for _, threads := range []int{1, 2, 5} {
			r := jsonLines(bytes.NewReader(lines.Bytes()), "text", threads)
			got, err := io.ReadAll(r)
			if err != nil || string(got) != joined(texts) {
				t.Fatalf("%d records, %d threads: %d bytes, %v, want %d", n, threads, len(got), err, len(joined(texts)))
			}
			r.Close()
		}
	}
}

func TestJSONLinesFields(t *testing.T) {
	for _, tc := range []struct{ lines, field, want, err string }{
		{`{"a":{"b":"x"}}`, "a.b", "x\n", ""},
		{`{"a.b":"y","a":{"b":"x"}}`, "a.b", "y\n", ""},
		{`{"text":"a\u0000b\nc"}` + "\n", "text", "a b\nc\n", ""},
		{`{"text":""}`, "text", "\n", ""},
		{`{"text":"x","text":"y"}`, "text", "y\n", ""},
		{"{\"text\":\"a\"}\n\n{\"text\":3}", "text", "", `line 3: its "text" is not a text: it begins with "3"`},
		{"{\"text\":\"a\"}\n{\"text\":\"b\"", "text", "", "line 2: this is no JSON object: unexpected end"},
		{`{"a":"x"}` + "\n" + `{"b":null}`, "b", "", "no record has this field: --field b"},
		{"", "b", "", "no record has this field"},
		{"[1]", "b", "", "line 1: this is JSON, but not an object"},
		{"plain text", "b", "", "line 1: this is no JSON object"},
	} {
		r := jsonLines(strings.NewReader(tc.lines), tc.field, 2)
		got, err := io.ReadAll(r)
		if tc.err == "" && (err != nil || string(got) != tc.want) || tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)) {
			t.Errorf("%s: %q, %v, want %q %s", tc.lines, got, err, tc.want, tc.err)
		}
		r.Close()
	}
}

// Line numbers count over blocks of lines.
func TestJSONLinesNumber(t *testing.T) {
	line := `{"text":"` + strings.Repeat("x ", 300) + "\"}\n"
	lines := strings.Repeat(line, 3000) + "{bad\n" + strings.Repeat(line, 3000)
	r := jsonLines(strings.NewReader(lines), "text", 3)
	defer r.Close()
	got, err := io.ReadAll(r)
	var place *recordError
	if !errors.As(err, &place) || place.place != "line 3001" || len(got) < 2000*600 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// TestJSONManyFields: an object of many fields, which take more memory than their text, is refused.
func TestJSONManyFields(t *testing.T) {
	var object strings.Builder
	object.WriteString(`{"text":"a"`)
	for i := range 400_000 {
		fmt.Fprintf(&object, `,"%d":1`, i)
	}
	object.WriteString("}\n")
	r := jsonLines(strings.NewReader(object.String()), "text", 1)
	text, err := io.ReadAll(r)
	r.Close()
	if string(text) != "a\n" || err != nil {
		t.Fatalf("%q, %v", text, err)
	}
	_, release := memory.NewGuard(memory.Resident() + 48<<20)
	defer release()
	r = jsonLines(strings.NewReader(object.String()), "text", 1)
	defer r.Close()
	if _, err := io.ReadAll(r); !errors.Is(err, memory.ErrRoom) || !strings.Contains(err.Error(), "line 1: ") {
		t.Errorf("%v", err)
	}
}

type row struct {
	ID   int64
	Text *string `parquet:"text,optional"`
	Meta struct {
		Language string `parquet:"language,dict"`
	} `parquet:"meta"`
	Tags []string `parquet:"tags"`
}

func parquetFile(t testing.TB, texts []*string, group int, options ...parquet.WriterOption) []byte {
	t.Helper()
	var file bytes.Buffer
	w := parquet.NewGenericWriter[row](&file, options...)
	for i, text := range texts {
		r := row{ID: int64(i), Text: text, Tags: []string{"a", "b"}}
		r.Meta.Language = []string{"de", "en"}[i%2]
		if _, err := w.Write([]row{r}); err != nil {
			t.Fatal(err)
		}
		if i%group == group-1 {
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func readParquet(file []byte, field string) (string, error) {
	r, err := newParquet(bytes.NewReader(file), int64(len(file)), field)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(r)
	return string(text), errors.Join(err, r.Close())
}

func TestParquet(t *testing.T) {
	rng := rand.New(rand.NewPCG(rand.Uint64(), 8))
	for _, n := range []int{0, 1, 10, 2000} {
		texts := randomTexts(rng, n, 40)
		for _, options := range [][]parquet.WriterOption{
			nil,
			{parquet.Compression(&parquet.Snappy), parquet.DataPageVersion(1)},
			{parquet.Compression(&parquet.Zstd), parquet.PageBufferSize(1 << 10)},
			{parquet.Compression(&parquet.Gzip), parquet.PageBufferSize(200)},
			{parquet.Compression(&parquet.Brotli)},
		} {
			file := parquetFile(t, texts, 1+rng.IntN(700), options...)
			if got, err := readParquet(file, "text"); err != nil || got != joined(texts) {
				t.Fatalf("%d rows: %d bytes, %v, want %d", n, len(got), err, len(joined(texts)))
			}
		}
	}
	text := "x"
	file := parquetFile(t, []*string{&text, &text, &text}, 100)
	if got, err := readParquet(file, "meta.language"); err != nil || got != "de\nen\nde\n" {
		t.Errorf("%q, %v", got, err)
	}
	for field, want := range map[string]string{
		"none": "no record has this field: --field none: its columns are ID, text, meta.language, tags",
		"ID":   "not a text for each row", "tags": "not a text for each row", "meta": "no record has this field",
	} {
		if _, err := readParquet(file, field); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", field, err, want)
		}
	}
	for _, cut := range []int{0, 4, 11, len(file) / 2, len(file) - 1} {
		if _, err := readParquet(file[:cut], "text"); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%d of %d bytes: %v", cut, len(file), err)
		}
	}
}

func FuzzParquet(f *testing.F) {
	text := "some words"
	f.Add(parquetFile(f, []*string{&text, nil, &text}, 2, parquet.Compression(&parquet.Snappy)), "text")
	f.Add(parquetFile(f, []*string{&text}, 2), "meta.language")
	f.Add([]byte("PAR1\x00\x00\x00\x00PAR1"), "")
	f.Fuzz(func(_ *testing.T, file []byte, field string) {
		if len(file) < 1<<16 {
			_, _ = readParquet(file, field)
		}
	})
}

func FuzzJSONLines(f *testing.F) {
	f.Add([]byte(`{"text":"a\nb"}`+"\n\n{}"), "text")
	f.Add([]byte(`{"a":{"b":"\u0000\ud800"}}`), "a.b")
	f.Fuzz(func(t *testing.T, lines []byte, field string) {
		read := func(threads int) (string, string) {
			r := jsonLines(bytes.NewReader(lines), field, threads)
			defer r.Close()
			text, err := io.ReadAll(r)
			return string(text), fmt.Sprint(err)
		}
		text, err := read(1)
		if again, errAgain := read(3); again != text || errAgain != err {
			t.Errorf("%q %s, with 3 threads %q %s", text, err, again, errAgain)
		}
		if strings.Contains(text, "\x00") {
			t.Errorf("a NUL in %q", text)
		}
	})
}
