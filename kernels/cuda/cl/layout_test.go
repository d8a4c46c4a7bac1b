//go:build gpu

package cl

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// sameLayout compares structs of Go with those of the kernels, by the names of these: what Go has has the same name there, but
// for its case, the same offset and size. So whoever writes one of a pair is told of the other.
func sameLayout(t *testing.T, pairs map[string]any) {
	t.Helper()
	var all source
	files, err := filepath.Glob("../*/*.cu*")
	for _, file := range files {
		text, failed := os.ReadFile(file)
		if failed != nil {
			err = failed
		}
		all += source(regexp.MustCompile(`//.*`).ReplaceAll(text, nil))
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, x := range pairs {
		all.compare(t, name, reflect.TypeOf(x))
	}
}

type source string

func (s source) compare(t *testing.T, name string, x reflect.Type) {
	fields, size, _ := s.layout(name)
	if size != int(x.Size()) {
		t.Errorf("%s has %d bytes, %s of the kernels %d", x, x.Size(), name, size)
	}
	for i := range x.NumField() {
		of := x.Field(i)
		f := fields[strings.ToLower(of.Name)]
		if of.Name != "_" && (f.offset != int(of.Offset) || f.size != int(of.Type.Size())) {
			t.Errorf("%s.%s is at %d and has %d bytes, %s of the kernels has %+v", x, of.Name, of.Offset, of.Type.Size(), name, f)
		}
		if f.of != "" && of.Type.Kind() == reflect.Struct {
			s.compare(t, f.of, of.Type)
		}
	}
}

// A field is one of a struct of the kernels; of is the name of its type if that is a struct.
type field struct {
	of           string
	offset, size int
}

var (
	scalars     = map[string]int{"uint32_t": 4, "int": 4, "float": 4, "uint16_t": 2, "uint64_t": 8, "long long": 8, "double": 8}
	declaration = regexp.MustCompile(`(?m)^\t(?:const |volatile )*(long long|\w+) ([^(;]+);`)
)

// layout lays a struct out as compilers do. A blank line ends its fields.
func (s source) layout(name string) (fields map[string]field, size, align int) {
	_, body, _ := strings.Cut(string(s), " "+name+" {")
	body, _, _ = strings.Cut(body, "\n}")
	body, _, _ = strings.Cut(body, "\n\n")
	fields, align = map[string]field{}, 1
	for _, line := range declaration.FindAllStringSubmatch(body, -1) {
		for _, declared := range strings.Split(line[2], ",") {
			var f field
			each, own := scalars[line[1]], scalars[line[1]]
			if strings.Contains(declared, "*") {
				each, own = 8, 8
			} else if own == 0 {
				f.of = line[1]
				_, each, own = s.layout(f.of)
			}
			dimensions := strings.Split(strings.Trim(declared, " *"), "[")
			for _, terms := range dimensions[1:] {
				each *= s.sum(strings.Trim(terms, "]"))
			}
			f.offset, f.size = (size+own-1)/own*own, each
			size, align = f.offset+each, max(align, own)
			fields[strings.ToLower(dimensions[0])] = f
		}
	}
	return fields, (size + align - 1) / align * align, align
}

func (s source) sum(terms string) (sum int) {
	for _, term := range strings.Split(terms, " + ") {
		if constant := regexp.MustCompile(`constexpr \w+ ` + term + ` = (\d+)`).FindStringSubmatch(string(s)); constant != nil {
			term = constant[1]
		}
		n, _ := strconv.Atoi(term)
		sum += n
	}
	return sum
}
