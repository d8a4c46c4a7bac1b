package cli

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/w2vcl/w2vcl/train/runfolder"
	"github.com/w2vcl/w2vcl/train/settings"
)

// FileValues reads the values of flags and arguments that name files.
type FileValues struct {
	Cmd      *cobra.Command
	args     []string
	settings map[string]string // from --config or the run that goes on
	Asked    map[string]bool   // the names that were asked for
}

// Get returns the value of a flag or argument; "" if it is not given.
func (v FileValues) Get(name string) string {
	v.Asked[name] = true
	if i := slices.Index(ArgumentsOf(v.Cmd), name); i >= 0 {
		if i < len(v.args) {
			return v.args[i]
		}
		return ""
	}
	flag := v.Cmd.Flags().Lookup(name)
	if flag == nil {
		return v.settings[name] // resume takes it from the run
	}
	if setting, ok := flag.Value.(SettingValue); ok {
		if text, given := setting.set[name]; given {
			return text
		}
		return v.settings[name]
	}
	return flag.Value.String()
}

// Read returns the file of a flag or argument.
func (v FileValues) Read(name string, use FileUse) File {
	label := name
	if v.Cmd.Flags().Lookup(name) != nil {
		label = "--" + name
	}
	return File{Name: label, Path: v.Get(name), Use: use}
}

// Each is Read for a flag that may be given again, and for the last argument, if there may
// be several of it.
func (v FileValues) Each(name string, use FileUse) (files []File) {
	v.Asked[name] = true
	var paths []string
	label := name
	if i := slices.Index(ArgumentsOf(v.Cmd), name); i >= 0 {
		paths = v.args[min(i, len(v.args)):]
	} else {
		label, paths = "--"+name, v.Cmd.Flags().Lookup(name).Value.(interface{ Paths() []string }).Paths()
	}
	if len(paths) == 0 {
		paths = []string{""}
	}
	for _, path := range paths {
		files = append(files, File{Name: label, Path: path, Use: use})
	}
	return files
}

// Write is Read for a file of a kind that the command writes.
func (v FileValues) Write(name string, use FileUse, kind FileKind) File {
	f := v.Read(name, use)
	f.Kind = kind
	return f
}

// Ignore declares flags that the command accepts and does not use.
func (v FileValues) Ignore(names ...string) {
	for _, name := range names {
		v.Asked[name] = true
	}
}

// ArgumentsOf lists the arguments in a command's usage line.
func ArgumentsOf(cmd *cobra.Command) []string {
	var names []string
	for word := range strings.FieldsSeq(cmd.Use) {
		if strings.HasPrefix(word, "-") || strings.HasPrefix(word, "[") {
			break
		}
		if unicode.IsUpper(rune(word[0])) {
			names = append(names, word)
		}
	}
	return names
}

// CommandName returns the words that call a command, without the program's name.
func CommandName(cmd *cobra.Command) string {
	_, name, _ := strings.Cut(cmd.CommandPath(), " ")
	return name
}

// guardCommands makes every command check its files before it runs. The lists are by command.
func guardCommands(commands []*cobra.Command, lists map[string]func(v FileValues) []File) {
	for _, c := range commands {
		guardCommands(c.Commands(), lists)
		files, listed := lists[CommandName(c)]
		if !listed {
			continue
		}
		run := c.RunE
		c.RunE = func(cmd *cobra.Command, args []string) error {
			v := FileValues{Cmd: cmd, args: args, settings: recordedSettings(cmd, args), Asked: map[string]bool{}}
			force, _ := strconv.ParseBool(v.Get("force")) // settings reports what is no switch
			if err := guardFiles(files(v), force); err != nil {
				return err
			}
			return run(cmd, args)
		}
	}
}

// recordedSettings returns the settings in the file of --config, or in that of the run
// that goes on. The command says what is wrong with the file.
func recordedSettings(cmd *cobra.Command, args []string) map[string]string {
	path := ""
	if flag := cmd.Flags().Lookup("config"); flag != nil {
		path = flag.Value.String()
	} else if cmd.Name() == "resume" && len(args) > 0 {
		path = runfolder.ResumedConfig(args[0])
	}
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	c, err := settings.Read(path)
	if err != nil {
		return nil
	}
	texts := map[string]string{}
	for _, s := range c.Settings() {
		texts[s.Name] = s.String()
	}
	return texts
}
