package textfile

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

func TestLines(t *testing.T) {
	failed := errors.New("the disk is gone")
	for _, c := range []struct {
		text string
		want []string
		err  string
	}{
		{"", nil, ""},
		{"\n", []string{""}, ""},
		{"\uFEFFa\r\n\n\uFEFFb", []string{"a", "", "\uFEFFb"}, ""},
		{"a\n" + strings.Repeat("x", LongestLine-2) + "\nb\n", []string{"a", strings.Repeat("x", LongestLine-2), "b"}, ""},
		{"a\n" + strings.Repeat("x", LongestLine+1) + "\n", []string{"a"}, "line 2: it has more than 1048576 bytes"},
	} {
		lines, got := NewLines(strings.NewReader(c.text)), []string(nil)
		for lines.Next() {
			if got = append(got, lines.Text()); lines.Number != len(got) {
				t.Errorf("line %d has the number %d", len(got), lines.Number)
			}
		}
		if err := lines.Err(); !slices.Equal(got, c.want) || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%.20q: %d lines, %v", c.text, len(got), err)
		}
	}
	lines := NewLines(iotest.ErrReader(failed))
	if lines.Next() || !errors.Is(lines.Err(), failed) || !strings.HasPrefix(lines.Err().Error(), "line 1: ") {
		t.Errorf("%v", lines.Err())
	}
}
