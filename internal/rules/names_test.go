package rules

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// The limits of functions and of names. A limit is a reader's; tests may have longer functions.
const (
	functionLines = 60
	exportedNames = 60
)

// TestFunctions: a function fits a screen or two.
func TestFunctions(t *testing.T) {
	names := map[string]map[string]bool{} // exported, by package
	for _, path := range files(t, ".go") {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, filepath.Join(root, path), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		room := filepath.ToSlash(filepath.Dir(path))
		if names[room] == nil {
			names[room] = map[string]bool{}
		}
		for _, d := range file.Decls {
			for _, name := range declared(d) {
				if name.IsExported() {
					names[room][name.Name] = true
				}
			}
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			n := set.Position(f.End()).Line - set.Position(f.Pos()).Line + 1
			if n > functionLines {
				t.Errorf("%s: %s has %d lines, more than %d", path, f.Name.Name, n, functionLines)
			}
		}
	}
	for room, exported := range names {
		if n := len(exported); n > exportedNames {
			t.Errorf("%s exports %d names, more than %d", room, n, exportedNames)
		}
	}
}

// TestKernels: so does a function of the CUDA sources.
func TestKernels(t *testing.T) {
	found := 0
	for _, path := range files(t, ".cu", ".cuh") {
		for name, n := range functionsOf(read(t, filepath.Join(root, path))) {
			if found++; n > functionLines {
				t.Errorf("%s: %s has %d lines, more than %d", path, name, n, functionLines)
			}
		}
	}
	if found < 300 {
		t.Errorf("%d functions", found)
	}
}

// functionsOf returns the lines of the functions of a CUDA source, by their first lines. The brace of a body ends its line, unless
// the body is one line.
func functionsOf(source string) map[string]int {
	functions := map[string]int{}
	name, first, depth := "", 0, 0
	for i, line := range strings.Split(source, "\n") {
		line, _, _ = strings.Cut(line, "//")
		line = strings.TrimSpace(strings.TrimSuffix(line, "\\"))
		if name == "" && (strings.Contains(line, "__device__") || strings.Contains(line, "__global__")) {
			name, first = line, i
		}
		if name == "" {
			continue
		}
		if depth > 0 || strings.HasSuffix(line, "{") {
			depth += strings.Count(line, "{") - strings.Count(line, "}")
		} else if !strings.HasSuffix(line, "}") && !strings.HasSuffix(line, ";") {
			continue // its arguments go on
		}
		if depth == 0 {
			functions[name] = i - first + 1
			name = ""
		}
	}
	return functions
}

// declared lists the names that a declaration gives to a package. Methods have none.
func declared(d ast.Decl) (names []*ast.Ident) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			names = append(names, d.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				names = append(names, spec.Name)
			case *ast.ValueSpec:
				names = append(names, spec.Names...)
			}
		}
	}
	return names
}
