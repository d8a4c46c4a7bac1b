package corpus

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// streamsFile is the only file that may define a stream, as a path from the root of
// the module.
const streamsFile = "corpus/random.go"

// TestStreamNumbers: every stream of the list has its own number, in the high 32
// bits, and leaves the low 32 bits to Sub.
func TestStreamNumbers(t *testing.T) {
	streams := listedStreams(t)
	if len(streams) < 12 {
		t.Errorf("%s lists %d streams", streamsFile, len(streams))
	}
	users := map[uint64]string{}
	for name, value := range streams {
		if value>>32 == 0 || value<<32 != 0 {
			t.Errorf("%s is %#x: the number belongs into the high 32 bits alone", name, value)
		}
		if other, taken := users[value]; taken {
			t.Errorf("%s and %s have the number %d", name, other, value>>32)
		}
		users[value] = name
	}
}

// listedStreams returns the constants of type Stream. Each must be written as
// number << 32.
func listedStreams(t *testing.T) map[string]uint64 {
	t.Helper()
	moduleFiles(t) // skips the test if there are none
	streams := map[string]uint64{}
	ast.Inspect(parseFile(t, streamsFile), func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || !isStream(spec.Type) {
			return true
		}
		for i, name := range spec.Names {
			var number *ast.BasicLit
			if shift, ok := spec.Values[i].(*ast.BinaryExpr); ok && shift.Op == token.SHL && is32(shift.Y) {
				number, _ = shift.X.(*ast.BasicLit)
			}
			if number == nil {
				t.Errorf("%s: write it as number << 32", name.Name)
				continue
			}
			value := constant.Shift(constant.MakeFromLiteral(number.Value, number.Kind, 0), token.SHL, 32)
			streams[name.Name], _ = constant.Uint64Val(value)
		}
		return true
	})
	return streams
}

// TestStreamsOfKernels: the CUDA sources give streams the numbers of the list.
func TestStreamsOfKernels(t *testing.T) {
	streams := listedStreams(t)
	defined := regexp.MustCompile(`\bstream([A-Z]\w*) = (\d+)`)
	found := 0
	for _, name := range filesOf(t, ".cu", ".cuh") {
		source, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range defined.FindAllStringSubmatch(string(source), -1) {
			found++
			number, _ := strconv.ParseUint(match[2], 10, 32)
			if want, ok := streams["Stream"+match[1]]; !ok || number<<32 != want {
				t.Errorf("%s gives stream %s the number %s, %s gives it %d", name, match[1], match[2], streamsFile, want>>32)
			}
		}
	}
	if found == 0 {
		t.Error("no CUDA source names a stream")
	}
}

// TestStreamsHaveOneHome: no other file makes a stream, be it a constant, a variable,
// a conversion or a shifted number as Philox's argument. Tests of this package may.
func TestStreamsHaveOneHome(t *testing.T) {
	for _, name := range moduleFiles(t) {
		if name == streamsFile || strings.HasPrefix(name, "corpus/") && strings.HasSuffix(name, "_test.go") {
			continue
		}
		ast.Inspect(parseFile(t, name), func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.ValueSpec:
				if isStream(x.Type) && len(x.Values) > 0 {
					t.Errorf("%s defines the stream %s; its home is %s", name, x.Names[0].Name, streamsFile)
				}
			case *ast.CallExpr:
				if isStream(x.Fun) {
					t.Errorf("%s converts a number to a stream; streams are in %s", name, streamsFile)
				}
				if called := selected(x.Fun); called == "Philox" && len(x.Args) >= 3 && shifts(x.Args[len(x.Args)-2]) {
					t.Errorf("%s gives Philox a number instead of a stream of %s", name, streamsFile)
				}
			}
			return true
		})
	}
}

// isStream reports whether an expression is the type corpus.Stream.
func isStream(x ast.Expr) bool {
	if selector, ok := x.(*ast.SelectorExpr); ok {
		pkg, ok := selector.X.(*ast.Ident)
		return ok && pkg.Name == "corpus" && selector.Sel.Name == "Stream"
	}
	name, ok := x.(*ast.Ident)
	return ok && name.Name == "Stream"
}

// selected returns the name of a function, without its package.
func selected(x ast.Expr) string {
	switch f := x.(type) {
	case *ast.SelectorExpr:
		return f.Sel.Name
	case *ast.Ident:
		return f.Name
	}
	return ""
}

// shifts reports whether an expression holds a number << 32.
func shifts(x ast.Expr) (found bool) {
	ast.Inspect(x, func(n ast.Node) bool {
		shift, ok := n.(*ast.BinaryExpr)
		if ok && shift.Op == token.SHL && is32(shift.Y) {
			_, found = shift.X.(*ast.BasicLit)
		}
		return !found
	})
	return found
}

func is32(x ast.Expr) bool {
	literal, ok := x.(*ast.BasicLit)
	return ok && literal.Value == "32"
}

// moduleFiles lists the Go files of the module. It skips the test if the sources of
// the module are not there.
func moduleFiles(t *testing.T) []string {
	t.Helper()
	names := filesOf(t, ".go")
	if !slices.Contains(names, streamsFile) {
		t.Skip("the sources of the module are not there")
	}
	return names
}

// filesOf lists the module's files with one of the endings, as paths from its root.
func filesOf(t *testing.T, endings ...string) (names []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(".."), ".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != "." && strings.HasPrefix(entry.Name(), "."):
			return fs.SkipDir
		case !entry.IsDir() && slices.Contains(endings, filepath.Ext(path)):
			names = append(names, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func parseFile(t *testing.T, name string) *ast.File {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", filepath.FromSlash(name)), nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return file
}
