package main

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/w2vcl/w2vcl/compare"
	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/runfolder"
	"github.com/w2vcl/w2vcl/settings"
)

// commandFiles is the one list of the files that commands read and write, by command.
// Before a command runs, [guardFiles] checks them. A new command that has a flag or an
// argument for a file gets a line here; a test fails without it. A file is declared by
// the name of its flag, or of its argument in the usage line.
var commandFiles = map[string]func(v fileValues) []file{
	"train": func(v fileValues) []file {
		return append(trainInputs(v), v.write("matrix", fileKept, matrixKind), v.write("graph-dot", fileOutput, dotKind), v.read("out", fileRun))
	},
	"resume": func(v fileValues) []file {
		return append(trainInputs(v), v.write("matrix", fileKept, matrixKind), v.read("DIR", fileResumed))
	},
	"plan": func(v fileValues) []file {
		v.ignore("out", "graph-dot")
		return append(trainInputs(v), v.read("matrix", fileMapped))
	},
	"demo": func(v fileValues) []file { return []file{v.read("config", fileMapped), v.read("out", fileRun)} },
	"matrix build": func(v fileValues) []file {
		return append(textInputs(v), v.read("config", fileMapped), v.write("matrix", fileKept, matrixKind))
	},
	"corpus build": func(v fileValues) []file { return append(textInputs(v), v.read("config", fileMapped)) },
	"corpus info":  func(v fileValues) []file { return []file{v.read("FILE", fileMapped)} },
	"corpus stats": func(v fileValues) []file {
		return []file{
			v.read("PATH", fileText), v.write("vocab", fileKept, textKind), v.read("cache", fileFolder),
			v.read("config", fileMapped), v.write("html", fileOutput, pageKind),
		}
	},
	"matrix info": func(v fileValues) []file {
		return []file{v.read("FILE", fileMapped), v.read("vocab", fileStream)}
	},
	"walk": func(v fileValues) []file {
		return []file{v.read("GRAPH", fileStream), v.write("out", fileOutput, walksKind), v.write("holdout-out", fileOutput, pairsKind)}
	},
	"phrases": phrasesFiles,
	"eval": func(v fileValues) []file {
		return []file{v.read("DIR|VECTORS", fileInput), v.read("data", fileInput), v.read("against", fileInput)}
	},
	"compare": compareFiles,
	"metrics": metricsFiles,
	"watch": func(v fileValues) []file {
		return []file{v.read("DIR", fileInput), v.write("html", fileOutput, pageKind)}
	},
	"map":       mapFiles,
	"man":       func(v fileValues) []file { return []file{v.read("FOLDER", fileFolder)} },
	"neighbors": vectorsInput,
	"analogy":   vectorsInput,
	"vector":    vectorsInput,
	"convert":   convertFiles,

	"bench kernels": func(v fileValues) []file {
		return []file{v.read("corpus", fileText), v.read("from", fileInput), v.read("out", fileFolder)}
	},
	"bench matrix":   benchTextInput,
	"bench corpus":   benchTextInput,
	"bench generate": func(v fileValues) []file { return []file{v.write("out", fileOutput, textKind)} },

	"bench eval": func(v fileValues) []file { return []file{v.read("vectors", fileInput), v.read("data", fileInput)} },
}

func trainInputs(v fileValues) []file {
	return append(textInputs(v), v.read("config", fileMapped), v.read("init", fileInput), v.read("pieces", fileInput))
}

// textInputs are the files of reading a text.
func textInputs(v fileValues) []file {
	return []file{v.read("corpus", fileText), v.write("vocab", fileKept, textKind), v.read("cache", fileFolder)}
}

func vectorsInput(v fileValues) []file { return []file{v.read("DIR|VECTORS", fileInput)} }

func benchTextInput(v fileValues) []file {
	return []file{v.read("corpus", fileText), v.read("cache", fileFolder), v.read("config", fileMapped)}
}

func compareFiles(v fileValues) []file {
	out := v.read("out", fileFolder)
	files := append(textInputs(v), v.read("config", fileStream), v.read("data", fileInput), out)
	files = append(files, v.each("external", fileInput)...)
	if out.path == "" || out.path == "-" {
		return files
	}
	for _, name := range compare.Files() {
		files = append(files, file{name: out.name, path: filepath.Join(out.path, name), use: fileOwn, kind: reportKind})
	}
	return files
}

// metricsFiles: --out is a file, or the folder of TensorBoard's event files.
func metricsFiles(v fileValues) []file {
	run := v.read("DIR", fileInput)
	if v.get("format") == metricsTensorBoard {
		return []file{run, v.read("out", fileFolder)}
	}
	return []file{run, v.write("out", fileOutput, metricsKind)}
}

// convertFiles: some formats keep the words in a file beside OUT.
func convertFiles(v fileValues) []file {
	out := v.write("OUT", fileOutput, vectorsKind)
	files := []file{v.read("DIR|VECTORS", fileInput), v.read("words", fileStream), out}
	o := convertOptions{format: v.get("format")}
	if format, err := o.outputFormat(out.path); err == nil {
		if path := embedding.WordsPath(out.path, format); path != "" {
			if out.path == "-" {
				files[2].use = fileOwn // which standard output cannot be: there are two files
			}
			files = append(files, file{name: "the words of " + out.name, path: path, use: fileOutput, kind: wordsKind})
		}
	}
	return files
}

// phrasesFiles: --common is a file, or the name of a list.
func phrasesFiles(v fileValues) []file {
	common := v.read("common", fileInput)
	if common.path == commonEnglish {
		common.path = ""
	}
	return []file{
		v.read("TEXT", fileText), v.write("out", fileOutput, textKind), v.write("save", fileOutput, phrasesKind),
		v.read("apply", fileInput), common,
	}
}

func mapFiles(v fileValues) []file {
	files := []file{v.read("DIR|VECTORS", fileInput), v.read("words", fileStream)}
	outputs, _ := v.cmd.Flags().GetStringArray("out")
	v.ignore("out")
	for _, path := range outputs {
		files = append(files, file{name: "--out", path: path, use: fileOutput, kind: mapKind})
	}
	return files
}

// fileValues reads the values of flags and arguments that name files.
type fileValues struct {
	cmd      *cobra.Command
	args     []string
	settings map[string]string // from --config or the run that goes on
	asked    map[string]bool   // the names that were asked for
}

// get returns the value of a flag or argument; "" if it is not given.
func (v fileValues) get(name string) string {
	v.asked[name] = true
	if i := slices.Index(argumentsOf(v.cmd), name); i >= 0 {
		if i < len(v.args) {
			return v.args[i]
		}
		return ""
	}
	flag := v.cmd.Flags().Lookup(name)
	if flag == nil {
		return v.settings[name] // resume takes it from the run
	}
	if setting, ok := flag.Value.(settingValue); ok {
		if text, given := setting.set[name]; given {
			return text
		}
		return v.settings[name]
	}
	return flag.Value.String()
}

func (v fileValues) read(name string, use fileUse) file {
	label := name
	if v.cmd.Flags().Lookup(name) != nil {
		label = "--" + name
	}
	return file{name: label, path: v.get(name), use: use}
}

// each is read for a flag that may be given again.
func (v fileValues) each(name string, use fileUse) (files []file) {
	v.asked[name] = true
	paths := v.cmd.Flags().Lookup(name).Value.(interface{ paths() []string }).paths()
	if len(paths) == 0 {
		paths = []string{""}
	}
	for _, path := range paths {
		files = append(files, file{name: "--" + name, path: path, use: use})
	}
	return files
}

func (v fileValues) write(name string, use fileUse, kind fileKind) file {
	f := v.read(name, use)
	f.kind = kind
	return f
}

// ignore declares flags that the command accepts and does not use.
func (v fileValues) ignore(names ...string) {
	for _, name := range names {
		v.asked[name] = true
	}
}

// argumentsOf lists the arguments in a command's usage line.
func argumentsOf(cmd *cobra.Command) []string {
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

// commandName returns the words that call a command, without the program's name.
func commandName(cmd *cobra.Command) string {
	_, name, _ := strings.Cut(cmd.CommandPath(), " ")
	return name
}

// guardCommands makes every command check its files before it runs.
func guardCommands(commands []*cobra.Command) {
	for _, c := range commands {
		guardCommands(c.Commands())
		files, listed := commandFiles[commandName(c)]
		if !listed {
			continue
		}
		run := c.RunE
		c.RunE = func(cmd *cobra.Command, args []string) error {
			v := fileValues{cmd: cmd, args: args, settings: recordedSettings(cmd, args), asked: map[string]bool{}}
			force, _ := strconv.ParseBool(v.get("force")) // settings reports what is no switch
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
