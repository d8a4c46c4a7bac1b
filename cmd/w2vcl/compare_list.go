package main

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"

	"github.com/w2vcl/w2vcl/compare/experiment"
	"github.com/w2vcl/w2vcl/internal/terminal"
)

// experimentsFolder is where the project has its experiments.
const experimentsFolder = "experiments"

// listExperiments prints a row for each experiment in a folder and below.
func listExperiments(s streams, folder string) error {
	var out table
	out.rowf("experiment\tvariants\truns\ttitle")
	found := 0
	err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Ext(path) != ".toml" {
			return err
		}
		file, err := experiment.ReadFile(path)
		if err != nil {
			return err
		}
		options := file.Options()
		found++
		variants := len(options.All())
		out.rowf("%s\t%s\t%s\t%s", path, strconv.Itoa(variants), strconv.Itoa(variants*options.Seeds), options.Title)
		return nil
	})
	if err != nil {
		return fmt.Errorf("--list %s: %w", folder, cause(err))
	}
	if found == 0 {
		return terminal.Usagef("--list %s: there is no TOML file of an experiment", folder)
	}
	return out.writeTo(s.out)
}
