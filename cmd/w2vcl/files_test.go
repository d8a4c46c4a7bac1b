package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/w2vcl/w2vcl/internal/terminal"
)

// placeholders are the names of values in help, and whether such a value is a file.
// "DIR|VECTORS" is one of each.
var placeholders = map[string]bool{
	"FILE": true, "DIR": true, "TEXT": true, "PATH": true, "VECTORS": true, "GRAPH": true, "OUT": true, "FOLDER": true,

	"N": false, "X": false, "K": false, "V": false, "L": false, "E": false, "T": false, "P": false, "Q": false, "S": false, "MB": false,
	"NAME": false, "LIST": false, "SIZE": false, "WHEN": false, "SHARE": false, "SHARES": false, "BUDGET": false, "VARIANT": false,
	"WORD...": false, "A": false, "B": false, "C": false, "COMMAND": false, "MODE.NAME=VALUE": false, "": false,
}

// isFile reports whether a placeholder stands for a file.
func isFile(t *testing.T, cmd *cobra.Command, placeholder string) bool {
	t.Helper()
	for part := range strings.SplitSeq(placeholder, "|") {
		file, known := placeholders[part]
		if !known {
			t.Errorf("%s: list the placeholder %s: is it a file?", cmd.CommandPath(), part)
		}
		if file {
			return true
		}
	}
	return false
}

// eachCommand calls f for all commands that can be run.
func eachCommand(f func(cmd *cobra.Command)) {
	var walk func([]*cobra.Command)
	walk = func(commands []*cobra.Command) {
		for _, c := range commands {
			if !c.HasSubCommands() {
				f(c)
			}
			walk(c.Commands())
		}
	}
	walk(newRoot(streams{strings.NewReader(""), io.Discard, io.Discard}).Commands())
}

// TestCommandFiles: commandFiles declares every flag and argument that names a file,
// and nothing else.
func TestCommandFiles(t *testing.T) {
	found := map[string]bool{}
	eachCommand(func(cmd *cobra.Command) {
		name := commandName(cmd)
		var named []string
		for _, argument := range argumentsOf(cmd) {
			if isFile(t, cmd, argument) {
				named = append(named, argument)
			}
		}
		cmd.Flags().VisitAll(func(flag *pflag.Flag) {
			placeholder, _ := pflag.UnquoteUsage(flag)
			if isSwitch := flag.NoOptDefVal != ""; isSwitch || placeholder == strings.ToLower(placeholder) && placeholder != "string" {
				return // of a type that is no text
			}
			if setting, ok := flag.Value.(settingValue); ok && setting.Choices == nil && placeholder == "text" {
				t.Errorf("%s --%s: name the value in its help", name, flag.Name)
			}
			if isFile(t, cmd, placeholder) {
				named = append(named, flag.Name)
			}
		})
		files, listed := commandFiles[name]
		if !listed {
			if len(named) > 0 {
				t.Errorf("%s: commandFiles does not declare its files %q", name, named)
			}
			return
		}
		found[name] = true
		v := fileValues{cmd: cmd, asked: map[string]bool{}}
		files(v)
		for _, file := range named {
			if !v.asked[file] {
				t.Errorf("%s: commandFiles does not declare %s", name, file)
			}
		}
		for asked := range v.asked {
			if !slices.Contains(argumentsOf(cmd), asked) && cmd.Flags().Lookup(asked) == nil && name != "resume" { // resume takes them from the run
				t.Errorf("%s: commandFiles declares %s, which the command does not have", name, asked)
			}
		}
	})
	for name := range commandFiles {
		if !found[name] {
			t.Errorf("there is no command %q", name)
		}
	}
}

// TestNoCommandReplacesItsInput gives every output of every command the name of each of
// its inputs, and a hard link to it, and lets any two outputs have one name.
func TestNoCommandReplacesItsInput(t *testing.T) {
	pairs := 0
	eachCommand(func(cmd *cobra.Command) {
		declare, listed := commandFiles[commandName(cmd)]
		if !listed {
			return
		}
		files := declare(fileValues{cmd: cmd, asked: map[string]bool{}})
		for _, out := range files {
			for _, other := range files {
				isHere := strings.HasPrefix(other.name, "--") || slices.Contains(argumentsOf(cmd), other.name) // not in the run that goes on
				if !out.use.isOutput() || out.name == other.name || out.use == fileResumed || !isHere {
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
func checkPair(t *testing.T, cmd *cobra.Command, out, other file, link bool) {
	t.Helper()
	t.Chdir(t.TempDir())
	if err := os.WriteFile("file", []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	values := map[string]string{out.name: "file", other.name: "file"}
	if link {
		if err := os.Link("file", "again"); err != nil {
			t.Skip(err)
		}
		values[out.name] = "again"
	}
	args := strings.Fields(commandName(cmd))
	for _, argument := range argumentsOf(cmd) {
		if value, ok := values[argument]; ok {
			args = append(args, value)
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
	code := run(t.Context(), args, streams{strings.NewReader(""), io.Discard, &stderr})
	if code != exitUsage || !strings.Contains(stderr.String(), "same") {
		t.Errorf("%s: exit code %d\n%s", strings.Join(args, " "), code, &stderr)
	}
	if content, err := os.ReadFile("file"); err != nil || string(content) != "precious" {
		t.Errorf("%s: the file holds %q (%v)", strings.Join(args, " "), content, err)
	}
	if left, err := filepath.Glob(".w2vcl*"); err != nil || len(left) > 0 {
		t.Errorf("%s left %q", strings.Join(args, " "), left)
	}
}

// TestGuardFiles: the rules, one by one.
func TestGuardFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, content := range map[string]string{"text": "a b\n", "empty": "", "binary": "\x00\x01"} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir("folder", 0o755); err != nil {
		t.Fatal(err)
	}
	const usage = true
	for _, test := range []struct {
		name  string
		files []file
		force bool
		want  string
		usage bool
	}{
		{"nothing", nil, false, "", false},
		{"not given", []file{{name: "--out", use: fileOutput}}, false, "", false},
		{"new", []file{{name: "--out", path: "new", use: fileOutput}}, false, "", false},
		{"in no folder", []file{{name: "--out", path: "none/new", use: fileOutput}}, false, "cannot write --out none/new: no such file", false},
		{"below a file", []file{{name: "--out", path: "text/new", use: fileOutput}}, false, "cannot write --out text/new: not a directory", false},
		{"folder for a file", []file{{name: "--out", path: "folder", use: fileOutput}}, true, "--out folder is a folder; name a file", false},
		{"file for a folder", []file{{name: "--out", path: "text", use: fileFolder}}, true, "--out text is a file: name a folder", false},
		{"deep folder", []file{{name: "--out", path: "a/b/c", use: fileFolder}}, false, "", false},
		{"there", []file{{name: "--out", path: "text", use: fileOutput, kind: textKind}}, false, "exists: choose another name, or replace it with --force", false},
		{"there, with force", []file{{name: "--out", path: "text", use: fileOutput, kind: textKind}}, true, "", false},
		{"another kind", []file{{name: "--out", path: "binary", use: fileOutput, kind: textKind}}, true, "--out binary exists and is not a text; --force", false},
		{"empty", []file{{name: "--out", path: "empty", use: fileOutput, kind: matrixKind}}, true, "", false},
		{"own", []file{{name: "--out", path: "text", use: fileOwn, kind: textKind}}, false, "", false},
		{"own of another kind", []file{{name: "--out", path: "binary", use: fileOwn, kind: textKind}}, false, "is not a text: choose", false},
		{"inputs may be equal", []file{{name: "A", path: "text", use: fileInput}, {name: "B", path: "./text", use: fileMapped}}, false, "", false},
		{"two streams", []file{{name: "A", path: "-", use: fileStream}, {name: "B", path: "-", use: fileText}}, false, "serves only one of them", usage},
		{"stream in and out", []file{{name: "A", path: "-", use: fileStream}, {name: "B", path: "-", use: fileOutput}}, false, "", false},
		{"no stream", []file{{name: "A", path: "-", use: fileInput}}, false, "cannot stand here", usage},
		{"input in the run", []file{{name: "A", path: "run/text", use: fileInput}, {name: "B", path: "run", use: fileRun}}, false, "A run/text lies in the run folder of B run, which", usage},
		{"output in the run", []file{{name: "B", path: "run", use: fileRun}, {name: "A", path: "run.replaced/x", use: fileOutput}}, false, "A run.replaced/x lies in the run folder of B run:", usage},
	} {
		err := guardFiles(test.files, test.force)
		var isUsage *terminal.UsageError
		switch {
		case test.want == "" && err != nil:
			t.Errorf("%s: %v", test.name, err)
		case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%s: got %v, want %q", test.name, err, test.want)
		case errors.As(err, &isUsage) != test.usage:
			t.Errorf("%s: a usage error: %v", test.name, errors.As(err, &isUsage))
		}
	}
	left, err := filepath.Glob("*")
	if err != nil || !slices.Equal(left, []string{"binary", "empty", "folder", "text"}) {
		t.Errorf("left %q (%v)", left, err)
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
		"phrases": "# phrases of w2vcl\n# delimiter\t_\n", "pairs": "# node node edge\na b 1\n",
	}
	for _, test := range []struct {
		kind fileKind
		want string
	}{
		{textKind, "walks, numbered walks, long walks, prose, paragraphs, long prose, words, words cut, table, edges, chapters"},
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
			if got := test.kind.is(path); got != slices.Contains(want, name) {
				t.Errorf("%s is %s: %t", name, test.kind.name, got)
			}
		}
	}
}
