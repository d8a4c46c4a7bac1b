package walk

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestArchives(t *testing.T) {
	for name, want := range map[string]string{
		"scipy":   "0-1:0.5 0-3:4 1-2:2 2-3:0.25",
		"pecanpy": "ann-ben:0.5 ann-dän:4 ben-cleo:2 cleo-dän:0.25",
	} {
		g, notes, err := Read(t.Context(), "testdata/"+name+".npz", ReadOptions{Weighted: true})
		if err != nil || list(g) != want || len(notes) > 0 {
			t.Errorf("%s: %s, %v, %v", name, list(g), notes, err)
		}
		if _, notes, err = Read(t.Context(), "testdata/"+name+".npz", ReadOptions{}); err != nil || len(notes) != 1 || !strings.Contains(notes[0], "numbers other than 1") {
			t.Errorf("%s: %v, %v", name, notes, err)
		}
	}
	if _, _, err := Read(t.Context(), "testdata/columns.npz", ReadOptions{}); err == nil || !strings.Contains(err.Error(), `has the form ["csc"]; save it as CSR`) {
		t.Errorf("columns: %v", err)
	}
}

// array64 returns a file of NumPy with a list of whole numbers.
func array64(numbers ...int64) []byte {
	head := fmt.Sprintf("{'descr': '<i8', 'fortran_order': False, 'shape': (%d,), }\n", len(numbers))
	file := append([]byte("\x93NUMPY\x01\x00"), byte(len(head)), 0)
	file = append(file, head...)
	for _, n := range numbers {
		file = binary.LittleEndian.AppendUint64(file, uint64(n))
	}
	return file
}

// archiveOf returns an archive of files.
func archiveOf(t testing.TB, files map[string][]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, content := range files {
		w, err := z.Create(name + ".npy")
		if err == nil {
			_, err = w.Write(content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// array32 returns a file with a list of int32.
func array32(values ...int32) []byte {
	file := bytes.Replace(array64(make([]int64, len(values))...), []byte("<i8"), []byte("<i4"), 1)
	file = file[:len(file)-8*len(values)]
	for _, x := range values {
		file = binary.LittleEndian.AppendUint32(file, uint32(x))
	}
	return file
}

// A matrix gives the graph of a list of its entries, whatever of the edges it holds.
func TestArchiveAsList(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for try := range 60 {
		o := ReadOptions{Directed: try%2 == 1, Weighted: try/2%2 == 1, Threads: 1 + try%3, Folder: t.TempDir(), always: try%7 == 0}
		nodes, list := 2+r.IntN(40), ""
		starts, ends, weights, names := []int64{0}, []int32{}, []int64{}, []int64{}
		bothWays, order := try/4%2 == 1, r.Perm(nodes)
		there := map[[2]int]int64{}
		for k := range 3 * nodes {
			from, to, weight := r.IntN(nodes), r.IntN(nodes), 1+r.Int64N(9)
			if k < nodes { // a list does not name nodes without edges
				from, to = k, (k+1)%nodes
			}
			if there[[2]int{from, to}]+there[[2]int{to, from}] == 0 {
				if there[[2]int{from, to}] = weight; bothWays {
					there[[2]int{to, from}] = weight
				}
			}
		}
		for i := range nodes {
			names = append(names, int64(order[i]))
			for _, j := range r.Perm(nodes) {
				if w := there[[2]int{i, j}]; w > 0 {
					ends, weights = append(ends, int32(j)), append(weights, w)
					list += fmt.Sprintln(order[i], order[j], w)
				}
			}
			starts = append(starts, int64(len(ends)))
		}
		read := func(name string, content []byte) *Graph {
			path := filepath.Join(t.TempDir(), name)
			if err := os.WriteFile(path, content, 0o666); err != nil {
				t.Fatal(err)
			}
			g, _, err := Read(t.Context(), path, o)
			if err != nil {
				t.Fatalf("try %d, %s: %v", try, name, err)
			}
			t.Cleanup(func() { _ = g.Close() })
			return g
		}
		matrix := read("graph.npz", archiveOf(t, map[string][]byte{
			"indptr": array64(starts...), "indices": array32(ends...), "data": array64(weights...), "IDs": array64(names...),
		}))
		edges := read("graph.txt", []byte(list))
		if !slices.Equal(matrix.Names, edges.Names) || !slices.Equal(matrix.starts, edges.starts) || !slices.Equal(matrix.ends, edges.ends) ||
			!slices.Equal(matrix.weights, edges.weights) || !slices.Equal(matrix.mass, edges.mass) || matrix.Loops() != edges.Loops() {
			t.Fatalf("try %d: other graphs of\n%s", try, list)
		}
	}
}

func TestArchiveErrors(t *testing.T) {
	whole := func(change func(files map[string][]byte)) []byte {
		files := map[string][]byte{"indptr": array64(0, 1, 2), "indices": array64(1, 0), "data": array64(1, 1)}
		change(files)
		return archiveOf(t, files)
	}
	good := whole(func(map[string][]byte) {})
	typed := func(array []byte, name string) []byte { return bytes.Replace(array, []byte("<i4"), []byte(name), 1) }
	for name, c := range map[string]struct {
		content []byte
		want    string
	}{
		"good":            {good, ""},
		"cut":             {good[:len(good)-30], "not copied completely"},
		"no data":         {whole(func(f map[string][]byte) { delete(f, "data") }), `no array "data"`},
		"other array":     {whole(func(f map[string][]byte) { f["data"] = []byte("text") }), "data.npy: this is not a NumPy array"},
		"object":          {whole(func(f map[string][]byte) { f["data"] = bytes.Replace(f["data"], []byte("<i8"), []byte("|O8"), 1) }), "data.npy: it is not a list of numbers or words"},
		"claim":           {whole(func(f map[string][]byte) { f["indptr"] = bytes.Replace(f["indptr"], []byte("(3,)"), []byte("(9,)"), 1) }), "9 values of 8 bytes: unexpected EOF"},
		"more":            {whole(func(f map[string][]byte) { f["indptr"] = bytes.Replace(f["indptr"], []byte("(3,)"), []byte("(2,)"), 1) }), "2 values of 8 bytes: the file has more"},
		"lengths":         {whole(func(f map[string][]byte) { f["data"] = array64(1) }), "the arrays do not fit together"},
		"falling":         {whole(func(f map[string][]byte) { f["indptr"] = array64(0, 3, 2) }), "indptr[1]: row 0 ends before it starts, or behind the last entry"},
		"column":          {whole(func(f map[string][]byte) { f["indices"] = array64(1, 2) }), "indices[1] is 2, but the matrix has 2 columns"},
		"first":           {whole(func(f map[string][]byte) { f["indptr"] = array64(1, 1, 2) }), "indptr[0] is 1, not 0"},
		"last":            {whole(func(f map[string][]byte) { f["indptr"] = array64(0, 1, 1) }), "the last row ends at entry 1 of 2"},
		"small column":    {whole(func(f map[string][]byte) { f["indices"] = array32(1, 2) }), "indices[1] is 2, but the matrix has 2 columns"},
		"negative column": {whole(func(f map[string][]byte) { f["indices"] = array32(-1, 0) }), "indices[0] is -1, but the matrix has 2 columns"},
		"two weights":     {whole(func(f map[string][]byte) { f["data"] = array64(1, 2) }), "the edge of 0 and 1 has two weights, 1 and 2"},
		"past 2^32":       {whole(func(f map[string][]byte) { f["indices"] = array64(1<<32, 0) }), "indices[0] is 4.294967296e+09"},
		"negative":        {whole(func(f map[string][]byte) { f["data"] = array64(1, -1) }), "data[1], in row 1: the weight -1"},
		"NaN": {whole(func(f map[string][]byte) {
			f["data"] = bytes.Replace(array64(1, 0x7ff8<<48), []byte("<i8"), []byte("<f8"), 1)
		}), "the weight"},
		"cut in an array":  {whole(func(f map[string][]byte) { f["data"] = f["data"][:len(f["data"])-3] }), "data.npy: 2 values of 8 bytes: unexpected EOF"},
		"names":            {whole(func(f map[string][]byte) { f["IDs"] = array64(7) }), "IDs has 1 names, but the matrix has 2 rows"},
		"equal names":      {whole(func(f map[string][]byte) { f["IDs"] = array64(7, 7) }), `IDs[0] and IDs[1] are both "7"`},
		"U1 as columns":    {whole(func(f map[string][]byte) { f["indices"] = typed(array32(1, 0), "<U1") }), "indices.npy: values of type U4 cannot be read as numbers"},
		"S4 as columns":    {whole(func(f map[string][]byte) { f["indices"] = typed(array32(1, 0), "|S4") }), "indices.npy: values of type S4 cannot be read as numbers"},
		"b4 as columns":    {whole(func(f map[string][]byte) { f["indices"] = typed(array32(1, 0), "<b4") }), "indices.npy: values of type b4 cannot be read as numbers"},
		"u4 as columns":    {whole(func(f map[string][]byte) { f["indices"] = typed(array32(1, 0), "<u4") }), ""},
		"numbers as names": {whole(func(f map[string][]byte) { f["IDs"] = array64(7, 5) }), ""},
	} {
		path := filepath.Join(t.TempDir(), "graph.npz")
		if err := os.WriteFile(path, c.content, 0o666); err != nil {
			t.Fatal(err)
		}
		_, _, err := Read(t.Context(), path, ReadOptions{Weighted: true})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path)) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
}

// TestArchiveOtherValues: values that are ignored must be numbers as well.
func TestArchiveOtherValues(t *testing.T) {
	data := array64(1, 1)
	data = append(bytes.Replace(data[:len(data)-16], []byte("<i8"), []byte("|f1"), 1), 1, 1)
	content := archiveOf(t, map[string][]byte{"indptr": array64(0, 1, 2), "indices": array64(1, 0), "data": data})
	_, err := readArchive(t.Context(), bytes.NewReader(content), int64(len(content)), ReadOptions{})
	if err == nil || !strings.Contains(err.Error(), "data.npy: values of type f1 cannot be read as numbers") {
		t.Error(err)
	}
}

// FuzzArchive checks that no archive makes Read panic.
func FuzzArchive(f *testing.F) {
	for _, name := range []string{"scipy", "pecanpy", "columns"} {
		content, err := os.ReadFile("testdata/" + name + ".npz")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content)
	}
	f.Add(archiveOf(f, map[string][]byte{"indptr": array64(0, 1, 2), "indices": array64(1, 0), "data": array64(1, 1)}))
	f.Fuzz(func(t *testing.T, content []byte) {
		e, err := readArchive(t.Context(), bytes.NewReader(content), int64(len(content)), ReadOptions{Weighted: true, Threads: 1})
		if err == nil && e.count() > 0 {
			checkGraph(t, e, ReadOptions{Weighted: true, Threads: 1})
		}
	})
}

// The names of a matrix without names are its numbers, in order.
func TestNamesBelow(t *testing.T) {
	for _, count := range []int{0, 1, 1 << 16, 3<<16 + 5} {
		names, err := namesBelow(t.Context(), 3, count)
		if err != nil || len(names) != count {
			t.Fatalf("%d names of %d: %v", len(names), count, err)
		}
		for i, name := range names {
			if name != strconv.Itoa(i) {
				t.Fatalf("name %d of %d is %q", i, count, name)
			}
		}
	}
}
