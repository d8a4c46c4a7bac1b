package rules

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/w2vcl/w2vcl/"

// root is the folder of the module.
var root = filepath.Join("..", "..")

// levels reads the packages of docs/architecture.md, with their levels.
func levels(t *testing.T) map[string]int {
	t.Helper()
	data := read(t, filepath.Join(root, "docs", "architecture.md"))
	line := regexp.MustCompile("(?m)^\\| (\\d) \\| `([^`]+)` \\| [^|]+ \\|$")
	found := map[string]int{}
	for _, cells := range line.FindAllStringSubmatch(data, -1) {
		if _, twice := found[cells[2]]; twice {
			t.Errorf("docs/architecture.md has %s twice", cells[2])
		}
		found[cells[2]], _ = strconv.Atoi(cells[1])
	}
	return found
}

// A listed package is what go list says of one.
type listed struct {
	ImportPath string
	Dir        string
	GoFiles    []string
	CgoFiles   []string
	Imports    []string
}

var listings = map[string]map[string]listed{} // by tags: to list takes a second

// packages lists our packages with the build tags, by name.
func packages(t *testing.T, tags string) map[string]listed {
	t.Helper()
	if found, ok := listings[tags]; ok {
		return found
	}
	cmd := exec.Command("go", "list", "-e", "-json=ImportPath,Dir,GoFiles,CgoFiles,Imports", "-tags="+tags, "./...")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=1") // files in C count, whether they can be compiled here or not
	cmd.Dir = root
	out, err := cmd.Output()
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip("there is no go command")
	}
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	found := map[string]listed{}
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			listings[tags] = found
			return found
		} else if err != nil {
			t.Fatal(err)
		}
		found[strings.TrimPrefix(p.ImportPath, module)] = p
	}
}

// imports lists the packages of ours that a package imports, with or without the
// tag gpu.
func imports(t *testing.T) map[string][]string {
	all := map[string][]string{}
	for _, tags := range []string{"", "gpu"} {
		for name, p := range packages(t, tags) {
			if _, ok := all[name]; !ok {
				all[name] = nil
			}
			for _, path := range p.Imports {
				if ours, ok := strings.CutPrefix(path, module); ok && !slices.Contains(all[name], ours) {
					all[name] = append(all[name], ours)
				}
			}
			slices.Sort(all[name])
		}
	}
	return all
}

// TestLevels: the table of packages has every package, and no import runs upwards. Go itself refuses circles.
func TestLevels(t *testing.T) {
	level := levels(t)
	all := imports(t)
	for name, used := range all {
		if _, ok := level[name]; !ok {
			t.Errorf("docs/architecture.md lacks %s", name)
		}
		for _, other := range used {
			if other != "testdata" && level[other] > level[name] {
				t.Errorf("%s (level %d) imports %s (level %d)", name, level[name], other, level[other])
			}
			for _, ground := range []string{"internal/", "kernels/"} {
				if strings.HasPrefix(name, ground) && !strings.HasPrefix(other, "internal/") && !strings.HasPrefix(other, ground) {
					t.Errorf("%s imports %s, which is above the ground floor", name, other)
				}
			}
		}
	}
	for name := range level {
		if _, ok := all[name]; !ok {
			t.Errorf("docs/architecture.md has %s, which is no package", name)
		}
	}
}

// TestImporters: a package has two importers, or docs/architecture.md says why it is one.
// Programs have none, and neither do packages that only tests import.
func TestImporters(t *testing.T) {
	data := read(t, filepath.Join(root, "docs", "architecture.md"))
	_, text, _ := strings.Cut(data, "## Packages with one importer\n")
	text, _, _ = strings.Cut(text, "\n## ")
	reasons := map[string]bool{}
	for _, match := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\| .+ \\|$").FindAllStringSubmatch(text, -1) {
		reasons[match[1]] = true
	}
	importers := map[string]int{}
	all := imports(t)
	for _, used := range all {
		for _, other := range used {
			importers[other]++
		}
	}
	for name := range all {
		if needed := importers[name] == 1; needed != reasons[name] {
			t.Errorf("%s has %d importers, and a reason in docs/architecture.md: %t", name, importers[name], reasons[name])
		}
	}
}

// TestSizes: a file beyond this size must be split. Tests may be longer.
func TestSizes(t *testing.T) {
	const most = 400
	for _, name := range files(t, ".go", ".cu", ".cuh", ".s") {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		if n := lines(t, filepath.Join(root, name)); n > most {
			t.Errorf("%s has %d lines, more than %d", name, n, most)
		}
	}
}

func lines(t *testing.T, path string) (n int) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		n++
	}
	return n
}

// files lists the files of the project with one of the endings, as paths from
// the root. Folders that are not of the project are left out.
func files(t *testing.T, endings ...string) (found []string) {
	t.Helper()
	skipped := []string{".git", "bin", "runs", ".venv", "built"}
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && slices.Contains(skipped, e.Name()):
			return fs.SkipDir
		case !e.IsDir() && slices.Contains(endings, filepath.Ext(path)):
			found = append(found, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestLinks: the files that a document links to are there.
func TestLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)\s#]+)(#[^)]*)?\)`)
	for _, name := range files(t, ".md") {
		data := read(t, filepath.Join(root, name))
		for _, match := range link.FindAllStringSubmatch(data, -1) {
			if strings.Contains(match[1], "://") || strings.HasPrefix(match[1], "mailto:") {
				continue
			}
			target := filepath.Join(root, filepath.Dir(name), filepath.FromSlash(match[1]))
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s, which is not there", name, match[1])
			}
		}
	}
}

// TestNamedFiles: the documents and benchmarks that comments, scripts and other
// documents name are there.
func TestNamedFiles(t *testing.T) {
	named := regexp.MustCompile(`\b(docs/[\w-]+\.\w+|benchmarks/[a-z\d][\w./-]*\w)`)
	for _, name := range files(t, ".go", ".cu", ".cuh", ".h", ".c", ".sh", ".py", ".md", ".txtar") {
		data := read(t, filepath.Join(root, name))
		for _, match := range named.FindAllString(data, -1) {
			if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(match))); err != nil {
				t.Errorf("%s names %s, which is not there", name, match)
			}
		}
	}
}
