package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/w2vcl/w2vcl/benchmarks/experiments"
	"github.com/w2vcl/w2vcl/cmd/internal/cli"
	"github.com/w2vcl/w2vcl/compare"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/train"
)

// experimentsFolder is where the project has its experiments.
const experimentsFolder = "experiments"

// listExperiments prints a row for each experiment in a folder and below: files of --config, and
// scripts with a title. With a corpus it plans time and memory of the files.
func (o *compareOptions) listExperiments(cmd *cobra.Command, s cli.Streams) error {
	folder, remove, err := withExperiments(o.list)
	if err != nil {
		return err
	}
	defer remove()
	planner := compare.Planner{Source: o.source(), Progress: s.Progress(o.quiet)}
	defer planner.Close()
	planned := o.settings.Set["corpus"] != ""
	var out cli.Table
	head := "experiment\tvariants\truns\t"
	if planned {
		head += "time\tmemory\t"
	}
	out.Rowf("%s", head+"title")
	found := 0
	err = filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		row := ""
		switch filepath.Ext(path) {
		case ".toml":
			row, err = o.experimentRow(cmd, path, &planner, planned)
		case ".sh":
			row, err = scriptTitle(path)
			if row != "" {
				row = strings.Repeat("–\t", strings.Count(head, "\t")-1) + row
			}
		}
		if err != nil || row == "" {
			return err
		}
		found++
		out.Rowf("%s", o.list+strings.TrimPrefix(path, folder)+"\t"+row)
		return nil
	})
	if errors.Is(err, context.Canceled) || cmd.Context().Err() != nil {
		return err
	}
	if err != nil {
		return fmt.Errorf("--list %s: %w", o.list, cli.Cause(err))
	}
	if found == 0 {
		return terminal.Usagef("--list %s: there is no TOML file of an experiment", o.list)
	}
	return out.Print(s.Out)
}

// withExperiments returns where a file or folder of experiments is, until remove is called: there, or, if there
// is no such one and w2vcl has it built in, in a copy.
func withExperiments(path string) (place string, remove func(), err error) {
	inside, ok := strings.CutPrefix(filepath.ToSlash(filepath.Clean(path)), experimentsFolder)
	inside = cmp.Or(strings.TrimPrefix(inside, "/"), ".")
	if !ok || isThere(path) || !isBuiltIn(inside) {
		return path, func() {}, nil
	}
	dir, err := os.MkdirTemp("", "w2vcl-experiments-*")
	if err != nil {
		return "", nil, err
	}
	remove = func() { _ = os.RemoveAll(dir) }
	if err := os.CopyFS(dir, experiments.Files); err != nil {
		remove()
		return "", nil, err
	}
	return filepath.Join(dir, filepath.FromSlash(inside)), remove, nil
}

// isThere reports whether there may be something at a path.
func isThere(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// isBuiltIn reports whether w2vcl has an experiment or a folder of some.
func isBuiltIn(path string) bool {
	_, err := fs.Stat(experiments.Files, path)
	return err == nil
}

// experimentRow returns the cells of an experiment.
func (o *compareOptions) experimentRow(cmd *cobra.Command, path string, planner *compare.Planner, planned bool) (string, error) {
	own := *o
	own.settings.File, own.out = path, "out"
	own.settings.Set, own.external = maps.Clone(o.settings.Set), slices.Clip(o.external)
	options, err := own.options(cmd)
	if err != nil {
		return "", err
	}
	variants := len(options.All())
	row := strconv.Itoa(variants) + "\t" + strconv.Itoa(variants*options.Seeds) + "\t"
	if planned {
		switch f, err := planner.Forecast(cmd.Context(), options); {
		case errors.Is(err, train.ErrInterrupted) || cmd.Context().Err() != nil:
			return "", err
		case err != nil:
			planner.Progress.Notef("%s: %v", filepath.Base(path), err)
			row += "n/a\tn/a\t"
		case f.Device > 0:
			row += fmt.Sprintf("%s\t%s, GPU %s\t",
				terminal.Duration(f.Seconds), terminal.Bytes(f.Memory), terminal.Bytes(f.Device))
		default:
			row += terminal.Duration(f.Seconds) + "\t" + terminal.Bytes(f.Memory) + "\t"
		}
	}
	return row + options.Title, nil
}

// scriptTitle returns the title of a script of an experiment, which is its first line; "" for a
// script that is none.
func scriptTitle(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	line, err := bufio.NewReader(f).ReadString('\n')
	title, ok := strings.CutPrefix(line, "# title: ")
	if err != nil || !ok {
		return "", nil // a file without lines is no script of ours
	}
	return strings.TrimSpace(title), nil
}
