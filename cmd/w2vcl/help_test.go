package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/w2vcl/w2vcl/cmd/internal/cli"
)

// TestShortHelp: -h of every command shows a dozen flags or so, --help all of them, and
// every main flag exists.
func TestShortHelp(t *testing.T) {
	var check func(path []string, c *cobra.Command)
	check = func(path []string, c *cobra.Command) {
		for _, below := range c.Commands() {
			check(append(path[:len(path):len(path)], below.Name()), below)
		}
		if c.HasAvailableSubCommands() || !c.Runnable() {
			return
		}
		help := func(flag string) string {
			var out bytes.Buffer
			if code := run(t.Context(), append(path[:len(path):len(path)], flag), cli.Streams{In: os.Stdin, Out: &out, Err: &out}); code != cli.ExitDone {
				t.Fatalf("%v %s: code %d", path, flag, code)
			}
			return out.String()
		}
		if lines := strings.Count(help("-h"), "\n"); lines > 30 && strings.Join(path, " ") == "train" {
			t.Errorf("train -h has %d lines", lines)
		}
		short, long := strings.Count(help("-h"), "\n      --"), strings.Count(help("--help"), "\n      --")
		if short > cli.FewFlags || short > long || long > 0 && short == 0 {
			t.Errorf("%v: %d flags in short help, %d in long", path, short, long)
		}
		for _, name := range mainFlags[strings.Join(path, " ")] {
			if c.Flags().Lookup(name) == nil {
				t.Errorf("%v has no flag --%s", path, name)
			}
		}
	}
	check(nil, newRoot(cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
	for _, c := range commands {
		root := newRoot(cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, c.name, "--help")
		if cmd, _, err := root.Find([]string{c.name}); err != nil || cmd.Name() != c.name {
			t.Errorf("the command %s is listed as %s (%v)", cmd.Name(), c.name, err)
		}
	}
	for name := range mainFlags {
		if _, rest, err := newRoot(cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}).Find([]string{name}); err != nil || len(rest) > 0 {
			t.Errorf("mainFlags names %s, which is no command", name)
		}
	}
}
