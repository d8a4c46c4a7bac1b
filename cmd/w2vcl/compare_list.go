package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/w2vcl/w2vcl/benchmarks/experiments"
	"github.com/w2vcl/w2vcl/cmd/internal/cli"
	"github.com/w2vcl/w2vcl/internal/terminal"
)

// experimentsFolder is where the project has its experiments.
const experimentsFolder = "experiments"

// listExperiments prints a row for each experiment in a folder and below: files of --config, and
// scripts with a title.
func (o *compareOptions) listExperiments(cmd *cobra.Command, s cli.Streams) error {
	folder, remove, err := withExperiments(o.list)
	if err != nil {
		return err
	}
	defer remove()
	var out cli.Table
	out.Rowf("experiment\tvariants\truns\ttitle")
	found := 0
	err = filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		row := ""
		switch filepath.Ext(path) {
		case ".toml":
			row, err = o.experimentRow(cmd, path)
		case ".sh":
			row, err = scriptTitle(path)
			if row != "" {
				row = "–\t–\t" + row
			}
		}
		if err != nil || row == "" {
			return err
		}
		found++
		out.Rowf("%s", o.list+strings.TrimPrefix(path, folder)+"\t"+row)
		return nil
	})
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
func (o *compareOptions) experimentRow(cmd *cobra.Command, path string) (string, error) {
	own := *o
	own.settings.File, own.out = path, "out"
	own.settings.Set, own.external = maps.Clone(o.settings.Set), slices.Clip(o.external)
	options, err := own.options(cmd)
	if err != nil {
		return "", err
	}
	variants := len(options.All())
	return fmt.Sprintf("%d\t%d\t%s", variants, variants*options.Seeds, options.Title), nil
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
