package rules

import (
	"go/build/constraint"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
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
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && strings.HasPrefix(entry.Name(), ".") && path != root {
			return filepath.SkipDir
		}
		name, _ := filepath.Rel(root, path)
		name = filepath.ToSlash(name)
		if !strings.HasSuffix(name, ".go") || allowed(name) {
			return nil
		}
		seen++
		if named.MatchString(name) {
			t.Errorf("%s is for one system: it belongs into internal", name)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, data, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			return err
		}
		for _, i := range file.Imports {
			if p := strings.Trim(i.Path.Value, `"`); p == "syscall" || strings.HasPrefix(p, "golang.org/x/sys/") && p != "golang.org/x/sys/cpu" {
				t.Errorf("%s imports %s: systems differ there, so it belongs into internal", name, p)
			}
		}
		for line := range strings.Lines(string(data)) {
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
		return nil
	})
	if err != nil || seen < 100 {
		t.Errorf("%d files, %v", seen, err)
	}
}
