package train

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// The files of a run folder.
const (
	ConfigFile     = "config.toml"   // resolved settings, see Config.TOML
	VocabularyFile = "vocab.tsv"     // word, tab, count
	VectorsFile    = "vectors.bin"   // the vectors to use, word2vec binary
	ContextFile    = "context.bin"   // the context table C, word2vec binary
	MetricsFile    = "metrics.jsonl" // one Metric a line
	SummaryFile    = "summary.json"  // the Summary

	checkpointFolder = "checkpoint"
)

var runFiles = []string{ConfigFile, VocabularyFile, VectorsFile, ContextFile, MetricsFile, SummaryFile, checkpointFolder}

// A runFolder is a run folder in the making. Files go to OUT.partial, which is
// renamed to OUT when all are there, so OUT is a whole run or not there.
type runFolder struct {
	out, partial string
	done         bool
}

// newRunFolder makes OUT.partial, which also proves that OUT can be written
// before any work is spent. An existing OUT is an error unless force is set;
// even then only a folder with nothing but a run's files in it is replaced.
func newRunFolder(out string, force bool) (*runFolder, error) {
	if out == "" {
		return nil, Usagef("--out is missing: name the folder to make for the run")
	}
	abs, err := filepath.Abs(out)
	if err != nil {
		return nil, fmt.Errorf("--out %s: %w", out, err)
	}
	if err := checkReplaceable(abs, out, force); err != nil {
		return nil, err
	}
	f := &runFolder{out: abs, partial: abs + ".partial"}
	if force {
		if err := os.RemoveAll(f.partial); err != nil {
			return nil, fmt.Errorf("cannot remove what an earlier run left: %w", err)
		}
	}
	if err := os.MkdirAll(filepath.Dir(abs), 0o755); err != nil {
		return nil, fmt.Errorf("cannot make --out %s: %w", out, err)
	}
	if err := os.Mkdir(f.partial, 0o755); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("%s exists: another run is writing it, or one was killed; remove it or use --force", f.partial)
		}
		return nil, fmt.Errorf("cannot make --out %s: %w", out, err)
	}
	return f, nil
}

// checkReplaceable returns nil if a run may be written to path.
func checkReplaceable(path, shown string, force bool) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("cannot make --out %s: %w", shown, err)
	case !info.IsDir():
		return fmt.Errorf("--out %s exists and is not a folder: choose another name", shown)
	case !force:
		return fmt.Errorf("--out %s exists: choose another name, or replace it with --force", shown)
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return fmt.Errorf("--out %s: %w", shown, err)
	}
	for _, e := range entries {
		if !slices.Contains(runFiles, e.Name()) {
			return fmt.Errorf("--force replaces run folders only, and %s holds %q, which is not a file of a run: choose another name, or move that away",
				shown, e.Name())
		}
	}
	return nil
}

// path returns where a file of the run is written.
func (f *runFolder) path(name string) string { return filepath.Join(f.partial, name) }

// commit puts the finished folder in its place.
func (f *runFolder) commit() error {
	old := ""
	if _, err := os.Lstat(f.out); err == nil { // allowed to exist: checkReplaceable
		old = f.out + ".replaced"
		if err := os.RemoveAll(old); err != nil {
			return fmt.Errorf("cannot replace %s: %w", f.out, err)
		}
		if err := os.Rename(f.out, old); err != nil {
			return fmt.Errorf("cannot replace %s: %w (the new run is in %s)", f.out, err, f.partial)
		}
	}
	f.done = true // from here on the work is done and never removed
	if err := os.Rename(f.partial, f.out); err != nil {
		if old != "" {
			_ = os.Rename(old, f.out) // best effort: the error below tells where all is
		}
		return fmt.Errorf("cannot finish %s: %w (the new run is in %s)", f.out, err, f.partial)
	}
	if old != "" {
		if err := os.RemoveAll(old); err != nil {
			return fmt.Errorf("the run is in %s, but the folder it replaced cannot be removed: %w", f.out, err)
		}
	}
	return nil
}

// abandon removes the unfinished folder. After commit it does nothing.
func (f *runFolder) abandon() {
	if !f.done {
		_ = os.RemoveAll(f.partial) // nothing better to do with a failure on a failure
	}
}

// checkOutputs makes sure, before any work, that what a run writes can be
// written, and that it does not become part of the text.
func (c *Config) checkOutputs() error {
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
