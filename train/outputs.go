package train

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/w2vcl/w2vcl/settings"
)

// checkOutputs makes sure, before any work, that the outputs of a run can be
// written, and that they do not become part of the text.
func checkOutputs(c *settings.Config) error {
	for _, output := range []struct{ flag, path string }{
		{"out", c.Out}, {"matrix", c.Matrix}, {"graph-dot", c.GraphDOT},
	} {
		if output.path != "" && within(output.path, c.Corpus) {
			return fmt.Errorf("--%s %s lies in the folder of --corpus %s, where the next run would read it as text: choose another place",
				output.flag, output.path, c.Corpus)
		}
	}
	if err := checkWritable("matrix", c.Matrix); err != nil {
		return err
	}
	return checkWritable("graph-dot", c.GraphDOT)
}

// within reports whether path is in folder or below. It is false if folder is
// a file, or not there.
func within(path, folder string) bool {
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return false
	}
	relative, err := filepath.Rel(absolute(folder), absolute(path))
	return err == nil && filepath.IsLocal(relative)
}

// checkWritable returns an error if a file cannot be made at path, before work
// is spent on its content. An empty path is nothing to write.
func checkWritable(flag, path string) error {
	if path == "" {
		return nil
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("--%s %s is a folder; name a file", flag, path)
	}
	probe, err := os.CreateTemp(filepath.Dir(path), ".w2vcl-probe-*")
	if err != nil {
		return fmt.Errorf("cannot write --%s %s: %w", flag, path, errors.Unwrap(err))
	}
	probe.Close()
	return os.Remove(probe.Name())
}

// absolute makes a recorded path independent of the working folder.
func absolute(path string) string {
	if path == "" || path == "-" {
		return path
	}
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}
