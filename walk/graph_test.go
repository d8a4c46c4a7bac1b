package walk

import "testing"

// TestNoteDeadEnds: in a directed graph walks end at nodes without edges to others.
func TestNoteDeadEnds(t *testing.T) {
	for name, c := range map[string]struct {
		file     string
		directed bool
		want     string
	}{
		"none":     {"a b\n", false, ""},
		"directed": {"1 2\n1 3\n", true, "walks end at 2 nodes: no edge leads on from there"},
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
