package train

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/train/runfolder"
	"github.com/w2vcl/w2vcl/train/settings"
)

// randomEdges returns the lines of a graph of some groups of nodes.
func randomEdges(directed bool) string {
	const nodes, group = 120, 12
	random := rand.New(rand.NewPCG(3, 3))
	var lines []string
	for i := range nodes {
		for range 4 {
			j := random.IntN(nodes)
			if random.IntN(4) > 0 {
				j = i/group*group + random.IntN(group)
			}
			if !directed || i%10 > 0 { // some walks end
				lines = append(lines, fmt.Sprintf("%d %d", 1000+i, 1000+j))
			}
		}
	}
	return strings.Join(lines, "\n")
}

// TestGraphIsExact: any number of threads (one, for sentence-ordered modes), with and without an interrupt in the
// middle, other lines first and another place of the graph: the same bits.
func TestGraphIsExact(t *testing.T) {
	for _, mode := range allModes() {
		for _, directed := range []bool{false, true} {
			if mode == settings.ModePPMI || directed && mode != settings.ModeCL && mode != "word2vec" {
				continue // ppmi is one unit; directed graphs differ in the lengths of their walks only
			}
			if testing.Short() && mode != settings.ModeCL && mode != "word2vec" {
				continue // walks are the same for all
			}
			t.Run(fmt.Sprintf("%s, directed %t", mode, directed), func(t *testing.T) {
				t.Parallel()
				lines := randomEdges(directed)
				c := longerConfig(t, mode)
				c.Corpus, c.Graph, c.Directed, c.Walks, c.WalkLength, c.P, c.Q = "", writeFile(t, "edges", lines), directed, 4, 17, 0.5, 2
				c.Subword, c.Threads = settings.SubwordNone, 1
				if _, err := Run(t.Context(), c, Options{}, nil); err != nil {
					t.Fatal(err)
				}
				want := hashOf(t, c.Out)
				if vocabulary := string(mustRead(t, filepath.Join(c.Out, runfolder.VocabularyFile))); strings.Count(vocabulary, "\n1") < 110 {
					t.Errorf("the vocabulary is\n%s", vocabulary)
				}
				threads := 4
				if slices.Contains(sequentialModes, mode) {
					threads = 1
				}
				shuffled := strings.Split(lines, "\n")
				slices.Reverse(shuffled)
				other := writeFile(t, "other", strings.Join(shuffled, "\n"))
				d := c
				d.Threads, d.Graph = threads, other
				if hashOfRun(t, d) != want {
					t.Errorf("%d threads: other vectors", threads)
				}
				checkResumed(t, c, want, map[string]string{"threads": fmt.Sprint(threads), "graph": other})
			})
		}
	}
}

// A run does not go on with another graph.
func TestResumeRefusesAnotherGraph(t *testing.T) {
	lines := randomEdges(false)
	c := longerConfig(t, settings.ModeCL)
	c.Corpus, c.Graph, c.Walks, c.WalkLength = "", writeFile(t, "edges", lines), 4, 17
	interruptRun(t, c)
	other := writeFile(t, "other", lines+"\n1000 1119")
	if _, err := Resume(t.Context(), nil, c.Out, map[string]string{"graph": other}, nil, nil); err == nil || !strings.Contains(err.Error(), other) {
		t.Errorf("got %v", err)
	}
}
