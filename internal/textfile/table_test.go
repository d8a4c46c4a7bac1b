package textfile

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/w2vcl/w2vcl/internal/memory"
)

func TestTable(t *testing.T) {
	rng := rand.New(rand.NewPCG(rand.Uint64(), 7))
	for _, separator := range separators {
		texts := randomTexts(rng, 300, 300)
		var table, want bytes.Buffer
		w := csv.NewWriter(&table)
		w.Comma = separator
		rows := [][]string{{"id", "the text", "more"}}
		for _, text := range texts {
			cell := ""
			if text != nil {
				cell = *text
			}
			if separator == '\t' { // which has no cells of several lines
				cell = strings.NewReplacer("\n", " ", "\t", " ", `"`, "'").Replace(cell)
			}
			if rows = append(rows, []string{"1", cell, "a b"}); cell != "" {
				want.WriteString(cell + "\n")
			}
		}
		if err := w.WriteAll(rows); err != nil {
			t.Fatal(err)
		}
		found, ok := tableWith(table.Bytes(), "the text")
		if !ok || found.separator != separator || !slices.Equal(found.columns, rows[0]) {
			t.Fatalf("table %q %q %v", found.separator, found.columns, ok)
		}
		got, err := io.ReadAll(iotest.OneByteReader(found.texts(iotest.HalfReader(&table), "the text")))
		if err != nil || string(got) != want.String() {
			t.Errorf("separator %q: %v; %d bytes, want %d", separator, err, len(got), want.Len())
		}
	}
}

func TestTableErrors(t *testing.T) {
	for text, want := range map[string]string{
		"a,b\n1,2\n1,2,3\n":       "line 3: it has 3 columns, and the first line 2",
		"a,b\n1,\"2\n3\"\n1\n":    "line 4: it has 1 columns",
		"a,b\n1,x\"y\n":           `line 2: bare "`,
		"a,b\n1,2\n1,\"never\n\n": "line 3: ",
		"a\tb\n1\t2\n1\t2\t3\n":   "line 3: it has 3 columns",
	} {
		table, ok := tableWith([]byte(text), "b")
		if !ok {
			t.Fatalf("%q is no table", text)
		}
		if _, err := io.ReadAll(table.texts(strings.NewReader(text), "b")); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: error %v, want %s", text, err, want)
		}
	}
	if _, ok := tableWith([]byte("a,b\n"), "c"); ok {
		t.Error("a column that is not there")
	}
}

func TestNotice(t *testing.T) {
	for _, test := range []struct {
		text, kind, fields string
		named              bool
	}{
		{text: "the cat sat on the mat\nthe dog\n"},
		{text: ""},
		{text: "\n \n"},
		{text: "{ x } is a set\n"},
		{text: "{\n"},
		{text: "{}\n"},
		{text: "[1] a reference\n"},
		{text: "yes,no\nno,yes\nyes,yes\n"},          // words with commas, no texts
		{text: "Well, yes\nNo, never\nOh, dear\n"},   // prose
		{text: "one,two\nhello there\nand, so on\n"}, // rows of several lengths
		{text: "a\tb\n1\tone thing\n"},               // two rows may be chance
		{text: "1 2\t3 4\n5 6\t7 8\n9 1\t2 3\n"},     // walks
		{text: "a one\tb\na one\tb\na one\tb\n", kind: "TSV", fields: "a one b", named: true},
		{text: "only one\ncolumn is\na text\n", named: true},
		{text: `{"id": 1, "text": "x"}` + "\n", kind: "JSON lines", fields: "id text"},
		{text: "  \n" + `{"id": {"a": [1]}, "text": "a te`, kind: "JSON lines", fields: "id text"},
		{text: `{"text": "a te`, kind: "JSON lines", fields: "text"},
		{text: "[\n  {\"text\": \"x\"}]", kind: "a JSON array"},
		{text: "id,text\n1,one thing\n2,\"another, thing\"\n", kind: "CSV", fields: "id text"},
		{text: "id;text\n1;one thing\n2;another thing\n", kind: "CSV", fields: "id text"},
		{text: "id,text\n1,\"one\nthing\"\n2,\"another\n\nthing\"\n3,\"cut o", kind: "CSV", fields: "id text"},
		{text: "id\ttext\n1\tone thing\n2\tanother thing", kind: "TSV", fields: "id text"},
	} {
		kind, fields := notice([]byte(test.text), !strings.HasSuffix(test.text, "cut o"), test.named)
		if kind != test.kind || strings.Join(fields, " ") != test.fields {
			t.Errorf("%q: %q with %q, want %q with %q", test.text, kind, fields, test.kind, test.fields)
		}
	}
}

func FuzzNotice(f *testing.F) {
	f.Add([]byte(`{"a": 1, "b"`), true, false)
	f.Add([]byte("a,b\n1,\"2 3\n"), false, true)
	f.Fuzz(func(_ *testing.T, head []byte, whole, named bool) {
		notice(head, whole, named)
		if table, ok := tableWith(head, "a"); ok {
			_, _ = io.ReadAll(table.texts(bytes.NewReader(head), "a"))
		}
	})
}

// TestTableBomb: a row that takes far more memory than there is ends before it does.
func TestTableBomb(t *testing.T) {
	endless := func(text string) io.Reader { return io.LimitReader(repeated(text), 1<<30) }
	_, release := memory.NewGuard(memory.Resident() + 48<<20)
	defer release()
	for _, c := range []struct {
		name      string
		separator rune
		row       io.Reader
		want      string
	}{
		{"quoted cell", ',', io.MultiReader(strings.NewReader("1,\""), endless("a b\n")), "the row behind line 1: it has more than"},
		{"cell", ',', io.MultiReader(strings.NewReader("1,"), endless("a b ")), "the row behind line 1: it has more than"},
		{"cell of TSV", '\t', io.MultiReader(strings.NewReader("1\t"), endless("a b ")), "the row behind line 1: it has more than"},
		{"cells", ';', endless(";"), "the row behind line 1: it has more than"},
		{"cells of TSV", '\t', endless("\t"), "the row behind line 1: it has more than"},
	} {
		table := table{separator: c.separator, columns: []string{"id", "text"}}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r := table.texts(io.MultiReader(strings.NewReader("id"+string(c.separator)+"text\n"), c.row), "text")
		_, err := io.Copy(io.Discard, r)
		runtime.ReadMemStats(&after)
		var place *recordError
		if took := after.TotalAlloc - before.TotalAlloc; !errors.As(err, &place) || !strings.Contains(err.Error(), c.want) || took > 256<<20 {
			t.Errorf("%s: allocated %d bytes, %v", c.name, took, err)
		}
	}
}

// repeated returns a text again and again.
type repeated string

func (r repeated) Read(p []byte) (n int, err error) {
	for n < len(p) {
		n += copy(p[n:], r)
	}
	return n, nil
}
