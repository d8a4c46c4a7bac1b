package bench

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"testing"
)

// An archive has the edges of the list, each in both directions and once, whatever the number of threads.
func TestGeneratedArchive(t *testing.T) {
	for _, g := range []GeneratedGraph{
		{Nodes: 700, Edges: 90_000, Seed: 3}, {Nodes: 1003, Edges: 70_000, Blocks: 10, Mixing: 0.2, Seed: 4}, {Nodes: 2, Edges: 3, Seed: 1},
	} {
		var archives [2]bytes.Buffer
		for i, threads := range []int{1, 3} {
			if err := g.WriteArchive(t.Context(), &archives[i], threads, nil); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(archives[0].Bytes(), archives[1].Bytes()) {
			t.Errorf("%+v: threads change the archive", g)
		}
		arrays := arraysOf(t, archives[0].Bytes())
		starts, ends := arrays["indptr.npy"], arrays["indices.npy"]
		if len(starts) != 8*int(g.Nodes+1) || len(arrays["data.npy"])*4 != len(ends) {
			t.Fatalf("%+v: arrays of %d, %d and %d bytes", g, len(starts), len(ends), len(arrays["data.npy"]))
		}
		got := map[[2]int64]int{}
		for v := range g.Nodes {
			first, end := binary.LittleEndian.Uint64(starts[8*v:]), binary.LittleEndian.Uint64(starts[8*v+8:])
			last := int64(-1)
			for at := first; at < end; at++ {
				to := int64(binary.LittleEndian.Uint32(ends[4*at:]))
				if got[[2]int64{v, to}]++; to <= last {
					t.Fatalf("%+v: row %d does not rise", g, v)
				}
				last = to
			}
		}
		want := map[[2]int64]int{}
		for _, e := range edgesOf(t, g, 2) {
			want[e], want[[2]int64{e[1], e[0]}] = 1, 1
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%+v: %d edges in both directions, want %d, or others", g, len(got), len(want))
		}
	}
}

// arraysOf returns the values of the arrays of an archive of NumPy.
func arraysOf(t *testing.T, archive []byte) map[string][]byte {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	arrays := map[string][]byte{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil || !strings.HasPrefix(string(content), "\x93NUMPY\x01\x00") {
			t.Fatalf("%s: %.20q, %v", f.Name, content, err)
		}
		head := 10 + int(binary.LittleEndian.Uint16(content[8:]))
		if head%64 != 0 || content[head-1] != '\n' {
			t.Errorf("%s: a head of %d bytes", f.Name, head)
		}
		arrays[f.Name] = content[head:]
	}
	return arrays
}
