package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/w2vcl/w2vcl/cmd/internal/cli"
)

// TestNoCommandReplacesItsInput gives every output of every command the name of each of
// its inputs, and a hard link to it, and lets any two outputs have one name.
func TestNoCommandReplacesItsInput(t *testing.T) {
	pairs := 0
	eachCommand(func(cmd *cobra.Command) {
		declare, listed := commandFiles[cli.CommandName(cmd)]
		if !listed {
			return
		}
		files := declare(cli.FileValues{Cmd: cmd, Asked: map[string]bool{}})
		for _, out := range files {
			for _, other := range files {
				isHere := strings.HasPrefix(other.Name, "--") || slices.Contains(cli.ArgumentsOf(cmd), other.Name) // not in the run that goes on
				if !out.Use.IsOutput() || out.Name == other.Name || out.Use == cli.FileResumed || !isHere {
					continue
				}
				pairs++
				for _, link := range []bool{false, true} {
					checkPair(t, cmd, out, other, link)
				}
			}
		}
	})
	if pairs < 20 {
		t.Errorf("only %d pairs of files", pairs)
	}
}

// checkPair runs a command with two names of one file.
func checkPair(t *testing.T, cmd *cobra.Command, out, other cli.File, link bool) {
	t.Helper()
	t.Chdir(t.TempDir())
	if err := os.WriteFile("file", []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	values := map[string]string{out.Name: "file", other.Name: "file"}
	if link {
		if err := os.Link("file", "again"); err != nil {
			t.Skip(err)
		}
		values[out.Name] = "again"
	}
	args := strings.Fields(cli.CommandName(cmd))
	for _, argument := range cli.ArgumentsOf(cmd) {
		if value, ok := values[argument]; ok {
			args = append(args, value)
			if strings.HasSuffix(argument, "...") {
				args = append(args, "x.txt")
			}
		} else {
			args = append(args, "x.txt")
		}
	}
	for name, value := range values {
		switch {
		case name == "--external":
			args = append(args, name, "first=other.bin", name, "name="+value+",seconds=1", name, "last=other.bin")
		case strings.HasPrefix(name, "--"):
			args = append(args, name, value)
		}
	}
	if cmd.Flags().Lookup("force") != nil {
		args = append(args, "--force")
	}
	var stderr bytes.Buffer
	code := run(t.Context(), args, cli.Streams{In: strings.NewReader(""), Out: io.Discard, Err: &stderr})
	if code != cli.ExitUsage || !strings.Contains(stderr.String(), "same") {
		t.Errorf("%s: exit code %d\n%s", strings.Join(args, " "), code, &stderr)
	}
	if content, err := os.ReadFile("file"); err != nil || string(content) != "precious" {
		t.Errorf("%s: the file holds %q (%v)", strings.Join(args, " "), content, err)
	}
	if left, err := filepath.Glob(".w2vcl*"); err != nil || len(left) > 0 {
		t.Errorf("%s left %q", strings.Join(args, " "), left)
	}
}

// TestKindsOfText: what has no mark of its own is known by what it is plainly not.
func TestKindsOfText(t *testing.T) {
	long := strings.Repeat("some words of a long text ", 400)
	contents := map[string]string{
		"walks": "n1 n2 n3 n2\nn2 n1\nn7\n", "numbered walks": "1 2 3 4\n2 3 2 1\n", "long walks": strings.Repeat("17 4 ", 2000) + "17\n",
		"prose": "It was late, and the rain had stopped.\nShe said: yes.\n", "paragraphs": "one line\n\nanother\n", "long prose": long,
		"words": "the\nof\nNew York\n", "table": "a\tb\n1\t2\n", "words cut": strings.Repeat("word\n", 900) + "wo",
		"vectors": "2 2\na 0.5 1\nb 2 3\n", "GloVe": "a 0.5 1\nb 0.1 2\n", "edges": "1 2\n1 3\n2 3\n", "chapters": "chapter 1\nIt was late\n",
		"JSON": "{\"unit\":1}\n", "array": "[1,2]\n", "page": "<!DOCTYPE html>\n", "script": "#!/bin/sh\n", "binary": "a\x00b", "latin": "caf\xe9 x\n",
		"phrases": "# phrases of w2vcl\n", "pairs": "# node node edge\na b 1\n",
	}
	for _, test := range []struct {
		kind cli.FileKind
		want string
	}{
		{cli.TextKind, "walks, numbered walks, long walks, prose, paragraphs, long prose, words, words cut, table, edges, chapters"},
		{walksKind, "walks, numbered walks, long walks, long prose, words, words cut, edges, chapters"},
		{wordsKind, "words, words cut, edges, walks, numbered walks, chapters"},
		{vectorsKind, "vectors, GloVe, numbered walks, long walks"},
		{phrasesKind, "phrases"},
		{pairsKind, "pairs"},
	} {
		want := strings.Split(test.want, ", ")
		for name, content := range contents {
			path := filepath.Join(t.TempDir(), "file")
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			if got := test.kind.Is(path); got != slices.Contains(want, name) {
				t.Errorf("%s is %s: %t", name, test.kind.Name, got)
			}
		}
	}
}
