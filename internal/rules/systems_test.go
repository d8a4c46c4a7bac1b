package rules

import (
	"go/build/constraint"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestSystems: what differs between operating systems and processors is in these rooms and in
// the lock of run folders. CI compiles only the rooms for other systems.
func TestSystems(t *testing.T) {
	named := regexp.MustCompile(`_(linux|darwin|windows|amd64|arm64)(_test)?\.go$`)
	systems := []string{"linux", "darwin", "windows", "unix", "amd64", "arm64"}
	rooms := regexp.MustCompile(`^(internal/(atomicfile|machine|memory|terminal)|kernels)/|^train/runfolder/lock_`)
	allowed := func(path string) bool { return rooms.MatchString(path) || strings.HasSuffix(path, "_test.go") }
	seen := 0
	for _, path := range files(t, ".go") {
		name := filepath.ToSlash(path)
		if allowed(name) {
			continue
		}
		seen++
		if named.MatchString(name) {
			t.Errorf("%s is for one system: it belongs into internal", name)
		}
		source := read(t, filepath.Join(root, path))
		file, err := parser.ParseFile(token.NewFileSet(), path, source, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range file.Imports {
			if p := strings.Trim(i.Path.Value, `"`); p == "syscall" || strings.HasPrefix(p, "golang.org/x/sys/") && p != "golang.org/x/sys/cpu" {
				t.Errorf("%s imports %s: systems differ there, so it belongs into internal", name, p)
			}
		}
		for line := range strings.Lines(source) {
			if expression, err := constraint.Parse(strings.TrimSpace(line)); err == nil {
				expression.Eval(func(tag string) bool {
					if slices.Contains(systems, tag) {
						t.Errorf("%s is for %s only: it belongs into internal", name, tag)
					}
					return true
				})
			}
			if strings.HasPrefix(line, "package ") {
				break
			}
		}
	}
	if seen < 100 {
		t.Errorf("%d files", seen)
	}
}
