package walk

import (
	"bytes"
	"strconv"
	"unicode"
)

// A field is a column of a line: the bytes from ... to-1.
type field struct{ from, to int }

// of returns the bytes of a field.
func (f field) of(line []byte) []byte { return line[f.from:f.to] }

// split appends the columns of a line to fields. Commas separate them if the line
// has any, else semicolons, else tabs, else white space. A comment and an empty line have none.
func split(fields []field, line []byte) []field {
	whole := field{0, len(line)}.trimmed(line)
	if text := whole.of(line); len(text) == 0 || text[0] == '#' || text[0] == '%' {
		return fields
	}
	for _, separator := range []byte{',', ';', '\t'} {
		if bytes.IndexByte(whole.of(line), separator) < 0 {
			continue
		}
		for from := whole.from; from <= whole.to; {
			to := whole.to
			if n := bytes.IndexByte(line[from:whole.to], separator); n >= 0 {
				to = from + n
			}
			f := field{from, to}.trimmed(line)
			if text := f.of(line); len(text) >= 2 && text[0] == '"' && text[len(text)-1] == '"' {
				f.from, f.to = f.from+1, f.to-1
			}
			fields = append(fields, f)
			from = to + 1
		}
		return fields
	}
	for from := whole.from; from < whole.to; {
		to := whole.to
		if n := bytes.IndexFunc(line[from:whole.to], unicode.IsSpace); n >= 0 {
			to = from + n
		}
		fields = append(fields, field{from, to})
		from = field{to, whole.to}.trimmed(line).from
	}
	return fields
}

// trimmed returns the field without white space around it.
func (f field) trimmed(line []byte) field {
	text := f.of(line)
	left := bytes.TrimLeftFunc(text, unicode.IsSpace)
	f.from += len(text) - len(left)
	f.to = f.from + len(bytes.TrimRightFunc(left, unicode.IsSpace))
	return f
}

// isHeader reports whether a first line holds titles instead of an edge.
func isHeader(fields []field, line []byte, weighted bool) bool {
	if len(fields) < 2 {
		return false
	}
	if weighted && len(fields) > 2 {
		_, err := strconv.ParseFloat(string(fields[2].of(line)), 64)
		return err != nil && fields[2].to > fields[2].from
	}
	titles := string(bytes.ToLower(fields[0].of(line))) + " " + string(bytes.ToLower(fields[1].of(line)))
	switch titles {
	case "source target", "from to", "src dst", "node1 node2", "node_1 node_2":
		return true
	default:
		return false
	}
}
