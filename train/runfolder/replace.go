package runfolder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/w2vcl/w2vcl/internal/atomicfile"
)

// checkReplaceable returns nil if a run may be written to OUT.
func (f *Folder) checkReplaceable() error {
	info, err := os.Lstat(f.out)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("cannot make --out %s: %w", f.Name, err)
	case !info.IsDir():
		return fmt.Errorf("--out %s exists and is not a folder: choose another name", f.Name)
	case !f.force:
		return fmt.Errorf("--out %s exists: choose another name, or replace it with --force", f.Name)
	}
	strange, err := strangeFile(f.out)
	if err != nil {
		return fmt.Errorf("--out %s: %w", f.Name, err)
	}
	if strange != "" {
		return fmt.Errorf("--force replaces run folders only, and %s holds %q, which is not a file of a run: choose another name, or move that away",
			f.Name, strange)
	}
	return nil
}

// tryReplacing proves, before any work is spent, that an OUT that is there can be
// moved away and its files removed.
func (f *Folder) tryReplacing() error {
	if !exists(f.out) {
		return nil
	}
	err := os.Rename(f.out, f.replaced()) // restoreReplaced undoes it if the process is killed here
	if err == nil {
		err = os.Rename(f.replaced(), f.out)
	}
	for _, dir := range []string{f.out, filepath.Join(f.out, checkpointFolder)} {
		if err == nil && exists(dir) {
			err = tryWriting(dir)
		}
	}
	if err != nil {
		return fmt.Errorf("--force cannot replace %s: %w", f.Name, err)
	}
	return nil
}

// tryWriting makes a file in a folder and removes it.
func tryWriting(dir string) error {
	probe, err := os.CreateTemp(dir, ".probe.tmp-*")
	if err != nil {
		return err
	}
	probe.Close()
	return os.Remove(probe.Name())
}

// strangeFile returns the name of something in a folder that is not of a run,
// or "".
func strangeFile(dir string) (string, error) {
	strange, err := notOf(dir, runFiles)
	if err != nil || strange != "" {
		return strange, err
	}
	inside, err := notOf(filepath.Join(dir, checkpointFolder), []string{filepath.Base(CheckpointFile)})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if inside != "" {
		strange = filepath.Join(checkpointFolder, inside)
	}
	return strange, err
}

// notOf returns the name of something in a folder that is none of the names, or a
// folder where there should be a file, or "".
func notOf(dir string, names []string) (string, error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if atomicfile.IsTemporary(e.Name()) && e.Type().IsRegular() { // of a process that was killed
			continue
		}
		if !slices.Contains(names, e.Name()) || e.IsDir() != (e.Name() == checkpointFolder) {
			return e.Name(), nil
		}
	}
	return "", err
}

// removeRun removes the files of a run and no others, summary.json first: after a
// kill the rest must not look like a whole run.
func removeRun(dir string) error {
	if err := removeStray(filepath.Join(dir, checkpointFolder)); err != nil {
		return err
	}
	for _, name := range slices.Insert(slices.Clone(runFiles), len(runFiles)-1, CheckpointFile) {
		if err := removeFile(filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("cannot remove an earlier run: %w", err)
		}
	}
	return nil
}

func removeRunFolder(dir string) error {
	return errors.Join(removeStray(dir), removeRun(dir), os.Remove(dir))
}

// removeFile removes a file or an empty folder, if it is there.
func removeFile(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
