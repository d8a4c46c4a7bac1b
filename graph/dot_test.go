package graph

import (
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/optim"
)

// The pictures of docs/graph.md are those of the graphs; go test ./graph -run Picture -update makes them.
func TestPicture(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	c := smallCorpus(t, r, 20, 50)
	ngrams := testOptions(4, 8, 1, optim.Adam)
	ngrams.SharedNegatives, ngrams.Composition, ngrams.Positions = 64, randomParts(r, 20, 4, true), 6
	stretches := cbowCase{corpus: c, words: 50, window: 3, options: ngrams}.stretches(t)
	pictures := map[string]string{
		"cbow":      newCBOW(t, stretches, 5, ngrams).DOT(),
		"skip-gram": newCL(t, buildMatrix(t, c, 4), 5, testOptions(4, 5, 1, optim.Adam)).DOT(),
	}
	network := testOptions(4, 5, 1, optim.Adam)
	network.Encoder = newNetEncoder(r, 20, 4)
	composed := newCL(t, buildMatrix(t, c, 4), 5, network).DOT()
	for _, name := range []string{"samples of step 2", "letters", "tanh", "step 1: loss", "step 2, update contexts", "update letters"} {
		if !strings.Contains(composed, name) {
			t.Errorf("the graph with a network lacks %q:\n%s", name, composed)
		}
	}
	const path = "../docs/graph.md"
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	for name, dot := range pictures {
		before, rest, found := strings.Cut(page, "<!-- picture of "+name+" -->\n")
		_, after, ended := strings.Cut(rest, "```\n\n")
		if !found || !ended {
			t.Fatalf("%s has no picture of %s", path, name)
		}
		page = before + "<!-- picture of " + name + " -->\n```mermaid\n" + mermaid(dot) + "```\n\n" + after
	}
	if *update {
		data = []byte(page)
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if page != string(data) {
		t.Errorf("%s has other pictures", path)
	}
}

// mermaid returns a graph in the language of Mermaid, which pages on GitHub may have.
func mermaid(dot string) string {
	round := regexp.MustCompile(`(\w+) \[shape=ellipse, label="(.*)\\n.*"\];`)
	box := regexp.MustCompile(`(\w+) \[shape=box, label="(.*)\\n.*"\];`)
	body := strings.TrimSuffix(strings.TrimPrefix(dot, "digraph iteration {\n"), "}\n")
	body = box.ReplaceAllString(round.ReplaceAllString(body, `$1(["$2"])`), `$1["$2"]`)
	return "flowchart TD\n" + strings.NewReplacer("->", "-->", ";\n", "\n").Replace(body)
}
