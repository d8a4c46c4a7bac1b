package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/w2vcl/w2vcl/cmd/internal/cli"
)

// placeholders are the names of values in help, and whether such a value is a file.
// "DIR|VECTORS" is one of each.
var placeholders = map[string]bool{
	"FILE": true, "DIR": true, "TEXT": true, "PATH": true, "VECTORS": true, "GRAPH": true, "OUT": true, "FOLDER": true, "RUN...": true,

	"N": false, "X": false, "K": false, "V": false, "L": false, "E": false, "T": false, "P": false, "Q": false, "S": false, "MB": false,
	"NAME": false, "LIST": false, "SIZE": false, "BYTES": false, "WHEN": false, "FRACTION": false, "FRACTIONS": false, "BUDGET": false, "VARIANT": false,
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
	walk(newRoot(cli.Streams{}).Commands())
}

// TestCommandFiles: commandFiles declares every flag and argument of the commands that names a file, and nothing else.
func TestCommandFiles(t *testing.T) {
	found := map[string]bool{}
	eachCommand(func(cmd *cobra.Command) {
		name := cli.CommandName(cmd)
		var named []string
		for _, argument := range cli.ArgumentsOf(cmd) {
			if isFile(t, cmd, argument) {
				named = append(named, argument)
			}
		}
		cmd.Flags().VisitAll(func(flag *pflag.Flag) {
			placeholder, _ := pflag.UnquoteUsage(flag)
			if isSwitch := flag.NoOptDefVal != ""; isSwitch || placeholder == strings.ToLower(placeholder) && placeholder != "string" {
				return // of a type that is no text
			}
			if setting, ok := flag.Value.(cli.SettingValue); ok && setting.Choices == nil && placeholder == "text" {
				t.Errorf("%s --%s: name the value in its help", name, flag.Name)
			}
			if isFile(t, cmd, placeholder) {
				named = append(named, flag.Name)
			}
		})
		files, listed := commandFiles[name]
		if !listed {
			if len(named) > 0 {
				t.Errorf("%s: the list of files does not declare its files %q", name, named)
			}
			return
		}
		found[name] = true
		v := cli.FileValues{Cmd: cmd, Asked: map[string]bool{}}
		files(v)
		for _, file := range named {
			if !v.Asked[file] {
				t.Errorf("%s: the list of files does not declare %s", name, file)
			}
		}
		for asked := range v.Asked {
			if !slices.Contains(cli.ArgumentsOf(cmd), asked) && cmd.Flags().Lookup(asked) == nil && name != "resume" { // resume takes them from the run
				t.Errorf("%s: the list of files declares %s, which the command does not have", name, asked)
			}
		}
	})
	for name := range commandFiles {
		if !found[name] {
			t.Errorf("there is no command %q", name)
		}
	}
}
