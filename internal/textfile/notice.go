package textfile

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// notice returns what the beginning of a text shows of records: their kind ("JSON lines", "CSV",
// "TSV", "a JSON array") and the names of their fields; "" for a text. whole tells that the text
// ends there. A table has rows of one length and, unless its file is named as one, titles without
// spaces and a cell of several words, so that lists of words and texts with commas are none.
func notice(head []byte, whole, named bool) (kind string, fields []string) {
	trimmed := bytes.TrimLeft(head, " \t\r\n")
	switch {
	case len(trimmed) == 0:
		return "", nil
	case trimmed[0] == '[' && bytes.HasPrefix(bytes.TrimLeft(trimmed[1:], " \t\r\n"), []byte(`{"`)):
		return "a JSON array", nil
	case trimmed[0] == '{':
		fields, ok := objectFields(trimmed)
		if !ok {
			return "", nil
		}
		return "JSON lines", fields
	}
	return noticeTable(head, whole, named)
}

// objectFields returns the fields of the JSON object that a text begins with, those before the
// text's end. ok is false if it begins with no object.
func objectFields(text []byte) (fields []string, ok bool) {
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	for d.More() {
		name, err := d.Token()
		field, isText := name.(string)
		if err != nil || !isText {
			return fields, len(fields) > 0
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return append(fields, field), len(fields) > 0 || bytes.Contains(text, []byte(`":`))
		}
		fields = append(fields, field)
	}
	return fields, len(fields) > 0
}

// fewestRows of a table, with the titles, show that it is one; mostRows are looked at.
const (
	fewestRows = 3
	mostRows   = 100
)

func noticeTable(head []byte, whole, named bool) (kind string, columns []string) {
	if end := bytes.LastIndexByte(head, '\n'); !whole {
		head = head[:end+1]
	}
	first, _, _ := bytes.Cut(head, []byte("\n"))
	for _, separator := range separators {
		if !bytes.ContainsRune(first, separator) {
			continue
		}
		rows := rowsOf(head, separator)
		if len(rows) < fewestRows || !named && !(areTitles(rows[0]) && haveTexts(rows)) {
			continue
		}
		if slices.ContainsFunc(rows, func(row []string) bool { return len(row) != len(rows[0]) }) {
			continue
		}
		if separator == '\t' {
			return "TSV", rows[0]
		}
		return "CSV", rows[0]
	}
	return "", nil
}

// rowsOf returns the first rows of a text, until one that is none.
func rowsOf(text []byte, separator rune) (rows [][]string) {
	next := table{separator: separator}.rows(bytes.NewReader(text))
	for len(rows) < mostRows {
		row, _, err := next()
		if err != nil {
			break
		}
		rows = append(rows, row)
	}
	return rows
}

// areTitles reports whether cells may be the titles of columns.
func areTitles(cells []string) bool {
	sorted := slices.Sorted(slices.Values(cells))
	return len(slices.Compact(sorted)) == len(cells) && !slices.ContainsFunc(cells, func(cell string) bool {
		return cell == "" || len(cell) > 40 || strings.ContainsAny(cell, " \t.!?")
	})
}

// haveTexts reports whether a cell below the titles has several words.
func haveTexts(rows [][]string) bool {
	return slices.ContainsFunc(rows[1:], func(row []string) bool {
		return slices.ContainsFunc(row, func(cell string) bool { return len(strings.Fields(cell)) > 1 })
	})
}
