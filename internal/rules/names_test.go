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
