package walk

import "testing"

// TestUnreached: of the nodes where walks end those are counted that no walk comes to.
func TestUnreached(t *testing.T) {
	g, _, err := read(t.Context(), source("hub a\nhub b\nhub c\n"), ReadOptions{Directed: true})
	if err != nil {
		t.Fatal(err)
	}
	for walks, want := range map[int]int{1: 2, 200: 0} {
		unreached := -1
		if _, err := g.Corpus(t.Context(), Options{Walks: walks, Unreached: func(nodes int) { unreached = nodes }}); err != nil || unreached != want {
			t.Errorf("%d walks do not reach %d nodes, %v; want %d", walks, unreached, err, want)
		}
	}
}

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
