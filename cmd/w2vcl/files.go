package main

import (
	"path/filepath"

	"github.com/w2vcl/w2vcl/benchmarks/experiments"
	"github.com/w2vcl/w2vcl/cmd/internal/cli"
	"github.com/w2vcl/w2vcl/compare"
	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/train/runfolder"
)

// commandFiles is the one list of the files that commands read and write, by command.
// Before a command runs, the guard of package cli checks them. A new command that has a flag or an
// argument for a file gets a line here; a test fails without it. A file is declared by
// the name of its flag, or of its argument in the usage line.
var commandFiles = map[string]func(v cli.FileValues) []cli.File{
	"train": func(v cli.FileValues) []cli.File {
		return append(trainInputs(v), v.Write("matrix", cli.FileKept, matrixKind),
			v.Write("graph-dot", cli.FileOutput, dotKind), v.Read("out", cli.FileRun), v.Read("data", cli.FileInput))
	},
	"resume": func(v cli.FileValues) []cli.File {
		return append(trainInputs(v), v.Write("matrix", cli.FileKept, matrixKind), v.Read("DIR", cli.FileResumed), v.Read("data", cli.FileInput))
	},
	"plan": func(v cli.FileValues) []cli.File {
		v.Ignore("out", "graph-dot")
		return append(trainInputs(v), v.Read("matrix", cli.FileMapped))
	},
	"demo": func(v cli.FileValues) []cli.File {
		return []cli.File{v.Read("config", cli.FileMapped), v.Read("out", cli.FileRun)}
	},
	"matrix build": func(v cli.FileValues) []cli.File {
		return append(textInputs(v), v.Read("config", cli.FileMapped), v.Write("matrix", cli.FileKept, matrixKind))
	},
	"corpus build": func(v cli.FileValues) []cli.File {
		files := append(textInputs(v), v.Read("config", cli.FileMapped))
		files[0].Again = true // by the runs that the encoded text is for, to know it
		return files
	},
	"corpus info": func(v cli.FileValues) []cli.File { return []cli.File{v.Read("FILE", cli.FileMapped)} },
	"corpus stats": func(v cli.FileValues) []cli.File {
		return []cli.File{
			v.Read("PATH", cli.FileText), v.Write("vocab", cli.FileKept, cli.TextKind), v.Read("cache", cli.FileFolder),
			v.Read("config", cli.FileMapped),
		}
	},
	"matrix info": func(v cli.FileValues) []cli.File {
		return []cli.File{v.Read("FILE", cli.FileMapped), v.Read("vocab", cli.FileInput)}
	},
	"walk": func(v cli.FileValues) []cli.File {
		return []cli.File{
			v.Read("GRAPH", cli.FileStream),
			v.Write("out", cli.FileOutput, walksKind),
			v.Write("holdout-out", cli.FileOutput, pairsKind),
			v.Write("rest-out", cli.FileOutput, edgesKind),
		}
	},
	"phrases": phrasesFiles,
	"eval": func(v cli.FileValues) []cli.File {
		return []cli.File{
			v.Read("DIR|VECTORS", cli.FileInput),
			v.Read("data", cli.FileInput),
			v.Read("graph", cli.FileStream),
			v.Read("against", cli.FileInput),
		}
	},
	"compare": compareFiles,
	"stability": func(v cli.FileValues) []cli.File {
		return append(v.Each("RUN...", cli.FileInput), v.Read("data", cli.FileInput))
	},
	"ensemble": ensembleFiles,
	"metrics":  metricsFiles,
	"map": func(v cli.FileValues) []cli.File {
		return []cli.File{v.Read("DIR|VECTORS", cli.FileInput), v.Read("words", cli.FileStream), v.Write("out", cli.FileOutput, mapKind)}
	},
	"neighbors":  questionsInput,
	"similarity": questionsInput,
	"analogy":    questionsInput,
	"vector":     vectorsInput,
	"convert":    convertFiles,
}

func trainInputs(v cli.FileValues) []cli.File {
	return append(textInputs(v), v.Read("graph", cli.FileStream), v.Read("config", cli.FileMapped), v.Read("init", cli.FileInput))
}

func textInputs(v cli.FileValues) []cli.File {
	return []cli.File{v.Read("corpus", cli.FileText), v.Write("vocab", cli.FileKept, cli.TextKind), v.Read("cache", cli.FileFolder)}
}

func vectorsInput(v cli.FileValues) []cli.File {
	return []cli.File{v.Read("DIR|VECTORS", cli.FileInput)}
}

func questionsInput(v cli.FileValues) []cli.File {
	return append(vectorsInput(v), v.Read("words", cli.FileStream))
}

func compareFiles(v cli.FileValues) []cli.File {
	out := v.Read("out", cli.FileFolder)
	files := append(textInputs(v), v.Read("graph", cli.FileStream), v.Read("data", cli.FileInput))
	files = append(files, v.Each("external", cli.FileInput)...)
	if config := v.Read("config", cli.FileMapped); experiments.Read(config.Path) == nil {
		files = append(files, config)
	}
	for i := range files { // a text is read once for each way of reading it; compareOptions.check knows when it may be -
		files[i].Again = !files[i].Use.IsOutput() && files[i].Path != "-"
	}
	files = append(files, out)
	if out.Path == "" || out.Path == "-" {
		return files
	}
	for _, name := range compare.Files() {
		files = append(files,
			cli.File{Name: out.Name, Path: filepath.Join(out.Path, name), Use: cli.FileOwn, Kind: reportKind})
	}
	return files
}

// ensembleFiles: --out is the folder of the vectors.
func ensembleFiles(v cli.FileValues) []cli.File {
	out := v.Read("out", cli.FileFolder)
	files := append(v.Each("RUN...", cli.FileInput), out)
	if out.Path != "" && out.Path != "-" {
		files = append(files, cli.File{Name: out.Name, Path: filepath.Join(out.Path, runfolder.VectorsFile), Use: cli.FileOwn, Kind: vectorsKind})
	}
	return files
}

// metricsFiles: --out is a file, or the folder of TensorBoard's event files.
func metricsFiles(v cli.FileValues) []cli.File {
	run := v.Read("DIR", cli.FileInput)
	if v.Get("format") == metricsTensorBoard {
		return []cli.File{run, v.Read("out", cli.FileFolder)}
	}
	return []cli.File{run, v.Write("out", cli.FileOutput, metricsKind)}
}

// convertFiles: some formats keep the words in a file beside OUT.
func convertFiles(v cli.FileValues) []cli.File {
	out := v.Write("OUT", cli.FileOutput, vectorsKind)
	files := []cli.File{v.Read("DIR|VECTORS", cli.FileInput), v.Read("words", cli.FileStream), out}
	o := convertOptions{format: v.Get("format")}
	if format, err := o.outputFormat(out.Path); err == nil {
		if path := embedding.WordsPath(out.Path, format); path != "" {
			if out.Path == "-" {
				files[2].Use = cli.FileOwn // which standard output cannot be: there are two files
			}
			files = append(files, cli.File{Name: "the words of " + out.Name, Path: path, Use: cli.FileOutput, Kind: wordsKind})
		}
	}
	return files
}

func phrasesFiles(v cli.FileValues) []cli.File {
	text := v.Read("TEXT", cli.FileText)
	text.Again = v.Get("apply") == "" // to find phrases, then to join them
	return []cli.File{
		text, v.Write("out", cli.FileOutput, cli.TextKind),
		v.Write("save", cli.FileOutput, phrasesKind),
		v.Read("apply", cli.FileInput),
	}
}
