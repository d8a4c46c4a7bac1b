package rules

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestPublicTypes: what a package exports can be used outside this module, so no
// exported signature, field or variable has a type of a package in internal.
func TestPublicTypes(t *testing.T) {
	checked := map[string]bool{}
	for _, tags := range []string{"", "gpu"} {
		for name, p := range packages(t, tags) {
			if strings.HasPrefix(name, "internal/") || strings.HasPrefix(name, "cmd/") {
				continue
			}
			for _, file := range slices.Concat(p.GoFiles, p.CgoFiles) {
				path := filepath.Join(p.Dir, file)
				if checked[path] {
					continue
				}
				checked[path] = true
				for _, found := range internalTypes(t, path, nil) {
					t.Errorf("%s: %s, a type that nobody outside can name", name, found)
				}
			}
		}
	}
	if len(checked) < 100 {
		t.Errorf("only %d files", len(checked))
	}
}

// internalTypes returns the uses of packages in internal in what a file exports.
func internalTypes(t *testing.T, path string, source any) (found []string) {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	inside := map[string]bool{} // names of internal packages in this file
	for _, spec := range file.Imports {
		imported, _ := strconv.Unquote(spec.Path.Value)
		if !strings.HasPrefix(imported, module+"internal/") {
			continue
		}
		name := imported[strings.LastIndexByte(imported, '/')+1:]
		if spec.Name != nil {
			name = spec.Name.Name
		}
		inside[name] = true
	}
	look := func(what string, node ast.Node) {
		ast.Inspect(node, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok && inside[x.Name] {
					found = append(found, fmt.Sprintf("%s has %s.%s (line %d)", what, x.Name, s.Sel.Name, set.Position(s.Pos()).Line))
				}
			}
			return true
		})
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && (d.Recv == nil || exportedReceiver(d.Recv)) {
				look(d.Name.Name, d.Type)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					if spec.Name.IsExported() {
						lookInType(spec.Name.Name, spec.Type, look)
					}
				case *ast.ValueSpec:
					if slices.ContainsFunc(spec.Names, (*ast.Ident).IsExported) && spec.Type != nil {
						look(spec.Names[0].Name, spec.Type)
					}
				}
			}
		}
	}
	return found
}

// lookInType looks at a type, but not at the fields that others do not see.
func lookInType(name string, node ast.Expr, look func(string, ast.Node)) {
	s, ok := node.(*ast.StructType)
	if !ok {
		look(name, node)
		return
	}
	for _, field := range s.Fields.List {
		if len(field.Names) == 0 || slices.ContainsFunc(field.Names, (*ast.Ident).IsExported) {
			lookInType(name, field.Type, look)
		}
	}
}

func exportedReceiver(receiver *ast.FieldList) bool {
	exported := false
	ast.Inspect(receiver.List[0].Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && !exported {
			exported = id.IsExported()
			return false
		}
		return true
	})
	return exported
}

// The rule sees every place where a type can stand.
func TestPublicTypesFinds(t *testing.T) {
	const source = `package p
import (
	"github.com/w2vcl/w2vcl/internal/team"
	other "github.com/w2vcl/w2vcl/internal/terminal"
)
func F(t *team.Team) {}
func G() []other.Progress { return nil }
func (x *T) M(f func(map[string]team.Team)) {}
func (x hidden) N(t team.Team) {}
func h(t team.Team) {}
type T struct {
	A, b team.Team
	c    team.Team
	team.Team
}
type I interface{ M(team.Team) }
type A = team.Team
var V team.Team
var v team.Team
`
	if found := internalTypes(t, "p.go", source); len(found) != 8 {
		t.Errorf("%d: %s", len(found), strings.Join(found, "\n"))
	}
}
