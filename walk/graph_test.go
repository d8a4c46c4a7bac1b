package walk

import "testing"

// TestNoteDeadEnds: in a directed graph walks end at nodes without edges to others, in an undirected one none comes to them.
func TestNoteDeadEnds(t *testing.T) {
	const head = "%%MatrixMarket matrix coordinate pattern general\n"
	for name, c := range map[string]struct {
		file     string
		directed bool
		want     string
	}{
		"none":     {"a b\n", false, ""},
		"one":      {head + "3 3 1\n1 2\n", false, "1 node has no edges; no walk comes to it"},
		"two":      {head + "4 4 1\n1 2\n", false, "2 nodes have no edges; no walk comes to them"},
		"directed": {head + "3 3 1\n1 2\n", true, "walks end at 2 nodes: no edge leads on from there"},
	} {
		g, _, err := read(t.Context(), source(c.file), ReadOptions{Directed: c.directed})
		if err != nil {
			t.Fatal(err)
		}
		if got := g.NoteDeadEnds(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
