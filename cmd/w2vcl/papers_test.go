package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"

	"github.com/w2vcl/w2vcl/compare/experiment"
	"github.com/w2vcl/w2vcl/train/device"
)

var update = flag.Bool("update", false, "write the golden files")

// papersOf is what docs/papers.toml says.
type papersOf struct {
	Paper []struct {
		Name      string
		Reference int
		Row       []paperRow
	}
}

type paperRow struct {
	Item, Shows, Published, Ours, Verdict, Why, Run string
	Measured                                        []string // data files of benchmarks
	When                                            string   // they were measured, and what differs from the run
}

// verdicts are those of a row, and whether it must say why.
var verdicts = map[string]bool{
	"same": false, "ahead": false, "behind": true, "differs": true, "part": false, "not here": true, "drawing": false,
}

const experimentsRoot = "../../benchmarks/experiments"

func readPapers(t *testing.T) papersOf {
	t.Helper()
	var p papersOf
	meta, err := toml.DecodeFile(filepath.Join("..", "..", "docs", "papers.toml"), &p)
	if err != nil {
		t.Fatal(err)
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		t.Errorf("papers.toml: unknown keys %v", unknown)
	}
	return p
}

// TestPapers: every row of every paper has a verdict, what it names is there, and every
// experiment but the ablations belongs to a row.
func TestPapers(t *testing.T) {
	p := readPapers(t)
	used := map[string]bool{}
	for _, paper := range p.Paper {
		items := map[string]bool{}
		for _, r := range paper.Row {
			where := paper.Name + ", " + r.Item
			if items[r.Item] {
				t.Errorf("%s is there twice", where)
			}
			items[r.Item] = true
			checkVerdict(t, where, r.Verdict, r.Why, r.Measured)
			if len(r.Measured) > 0 && r.When == "" {
				t.Errorf("%s: say when it was measured", where)
			}
			if r.Item == "" || r.Shows == "" || r.Verdict != "drawing" && r.Published == "" && r.Why == "" {
				t.Errorf("%s: say what it shows and what is published", where)
			}
			if r.Run == "" {
				continue
			}
			if used[r.Run] = true; experimentFile(r.Run) == "" {
				t.Errorf("%s: there is no benchmarks/experiments/%s.toml or .sh", where, r.Run)
			}
		}
	}
	for _, pattern := range []string{"*/*.toml", "*/*.sh"} {
		files, err := filepath.Glob(filepath.Join(experimentsRoot, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			name := filepath.ToSlash(strings.TrimPrefix(file, filepath.Clean(experimentsRoot)+string(filepath.Separator)))
			if name = strings.TrimSuffix(name, filepath.Ext(name)); !used[name] && path.Dir(name) != "ablations" {
				t.Errorf("no row of papers.toml runs %s", file)
			}
			checkExperiment(t, file)
		}
	}
}

func checkVerdict(t *testing.T, where, verdict, why string, measured []string) {
	t.Helper()
	if needsReason, ok := verdicts[verdict]; !ok || needsReason && why == "" {
		t.Errorf("%s: verdict %q, why %q", where, verdict, why)
	}
	for _, name := range measured {
		if _, err := os.Stat(filepath.Join("..", "..", "benchmarks", filepath.FromSlash(name))); err != nil {
			t.Errorf("%s: %v", where, err)
		}
	}
}

// experimentFile returns the file of an experiment by its name, "" if there is none.
func experimentFile(name string) string {
	for _, ending := range []string{".toml", ".sh"} {
		if _, err := os.Stat(filepath.Join(experimentsRoot, filepath.FromSlash(name)+ending)); err == nil {
			return name + ending
		}
	}
	return ""
}

// checkExperiment: the settings of a file resolve, in its small version, too; a script has a
// title and no error of syntax.
func checkExperiment(t *testing.T, path string) {
	t.Helper()
	if filepath.Ext(path) == ".sh" {
		if script, err := os.ReadFile(path); err != nil || !bytes.HasPrefix(script, []byte("# title: ")) {
			t.Errorf("%s has no title: %v", path, err)
		}
		if runtime.GOOS == "windows" { // its bash may be another system's
			return
		}
		if out, err := exec.Command("bash", "-n", path).CombinedOutput(); err != nil && len(out) > 0 {
			t.Errorf("%s: %s", path, out)
		}
		return
	}
	for _, on := range []string{"cpu", "cuda"} {
		checkComparison(t, path, on)
	}
}

// checkComparison: the settings of a file resolve on a device. On a GPU run.sh leaves psgnscc out.
func checkComparison(t *testing.T, path, on string) {
	t.Helper()
	for _, quick := range []bool{false, true} {
		file, err := experiment.ReadFile(path)
		if err != nil {
			t.Error(err)
			return
		}
		if file.Title == "" {
			t.Errorf("%s has no title", path)
		}
		if quick {
			file.Shorten()
		}
		options := experiment.Options{Seeds: max(file.Seeds, 1), Settings: file.Settings, Points: 1, Out: "out"}
		options.Settings["corpus"], options.Settings["device"] = "text", on
		for _, v := range slices.Concat(experiment.Modes(file.Modes), file.Variants) {
			if on == "cpu" || v.Name != "psgnscc" {
				options.Variants = append(options.Variants, v)
			}
		}
		if options.Budget, err = experiment.ParseBudget(file.Budget); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		// A program without CUDA does not know what kernels take.
		if _, err := options.Runs(); err != nil && (on == "cpu" || !strings.Contains(err.Error(), device.ErrNotBuilt.Error())) {
			t.Errorf("%s on %s: %v", path, on, err)
		}
	}
}

// The lines of docs/papers.md between which the tables stand.
const (
	papersBegin = "<!-- Made from docs/papers.toml; change that. -->\n"
	madeEnd     = "<!-- End of what is made. -->\n"
)

// TestGoldenPapers: the tables of docs/papers.md are those of docs/papers.toml.
func TestGoldenPapers(t *testing.T) {
	checkMade(t, "papers.md", papersBegin, papersTables(readPapers(t)))
}

// checkMade compares what a page of docs has between two lines with what is made, or writes it there.
func checkMade(t *testing.T, page, begin string, made []byte) {
	t.Helper()
	path := filepath.Join("..", "..", "docs", page)
	is, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, begun := bytes.Cut(is, []byte(begin))
	_, tail, ended := bytes.Cut(rest, []byte(madeEnd))
	if !begun || !ended {
		t.Fatalf("%s lacks the line %q or %q", path, begin, madeEnd)
	}
	want := slices.Concat(head, []byte(begin), made, []byte(madeEnd), tail)
	if *update {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	} else if !bytes.Equal(is, want) {
		t.Errorf("%s is out of date: go test ./cmd/w2vcl -run %s -update", path, t.Name())
	}
}

func papersTables(p papersOf) []byte {
	var b bytes.Buffer
	summary(&b, p)
	for _, paper := range p.Paper {
		fmt.Fprintf(&b, "\n### %s [%d]\n\n| | published | ours | verdict |\n|---|---|---|---|\n", paper.Name, paper.Reference)
		for _, r := range paper.Row {
			item := r.Item + ": " + r.Shows
			if r.Run != "" {
				item += fmt.Sprintf(" ([%s](../benchmarks/experiments/%s))", r.Run, experimentFile(r.Run))
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", item, dash(r.Published), withLinks(r.Ours, r.Measured), withReason(r.Verdict, r.Why))
		}
	}
	b.WriteString("\n")
	return b.Bytes()
}

// summary writes how many rows have each verdict.
func summary(b *bytes.Buffer, p papersOf) {
	order := []string{"same", "ahead", "part", "differs", "behind", "not here", "drawing"}
	fmt.Fprintf(b, "\n| | in all | %s |\n|---%s|\n", strings.Join(order, " | "), strings.Repeat("|---:", 1+len(order)))
	for _, paper := range p.Paper {
		counts := map[string]int{}
		for _, r := range paper.Row {
			counts[r.Verdict]++
		}
		fmt.Fprintf(b, "| %s [%d] | %d |", paper.Name, paper.Reference, len(paper.Row))
		for _, v := range order {
			if n := counts[v]; n == 0 {
				b.WriteString(" |")
			} else {
				fmt.Fprintf(b, " %d |", n)
			}
		}
		b.WriteString("\n")
	}
}

func dash(text string) string {
	if text == "" {
		return "–"
	}
	return text
}

// withLinks names the pages that show what data files have: papers of papers/full/table7.tsv.
func withLinks(text string, measured []string) string {
	var links []string
	for _, file := range measured {
		page, _, _ := strings.Cut(file, "/")
		if link := fmt.Sprintf("[%s](../benchmarks/%[1]s/README.md)", page); !slices.Contains(links, link) {
			links = append(links, link)
		}
	}
	if len(links) == 0 {
		return dash(text)
	}
	return strings.TrimSpace(text + " (" + strings.Join(links, ", ") + ")")
}

func withReason(verdict, why string) string {
	if why == "" {
		return "**" + verdict + "**"
	}
	return "**" + verdict + "**: " + why
}
