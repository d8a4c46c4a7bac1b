package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestControlCharacters: no command lets the words of a file act upon the terminal.
func TestControlCharacters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vectors.txt")
	words := []string{"red\x1b[31m", "bell\x07", "csi\u009b2J", "left\u202e", "last"}
	var file strings.Builder
	for i, word := range words {
		file.WriteString(word + " 1 0." + string(rune('1'+i)) + "\n")
	}
	if err := os.WriteFile(path, []byte(file.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, arguments := range [][]string{
		{"neighbors", path, words[0], words[1], words[2], words[3]},
		{"neighbors", path, words[0], "--json"},
		{"neighbors", path, "not\x1b[31mthere"},
		{"analogy", path, words[0], words[1], words[2]},
		{"vector", path, words[0], words[1], words[2], words[3]},
		{"vector", path, words[0], "--json"},
	} {
		output, _ := w2vclCommand(t, arguments...).CombinedOutput() // the exit code does not matter
		if !strings.Contains(string(output), `\u001b`) && !strings.Contains(string(output), `\x1b`) {
			t.Errorf("%q shows no escaped word:\n%q", arguments, output)
		}
		if at := strings.IndexAny(string(output), "\x1b\x07\u009b\u202e"); at >= 0 {
			t.Errorf("%q writes %q", arguments, output[at:min(at+20, len(output))])
		}
	}
}
