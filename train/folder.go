package train

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/w2vcl/w2vcl/internal/atomicfile"
	"github.com/w2vcl/w2vcl/internal/terminal"
)

// The files of a run folder.
const (
	ConfigFile     = "config.toml"         // resolved settings, see Config.TOML
	VocabularyFile = "vocab.tsv"           // word, tab, count
	VectorsFile    = "vectors.bin"         // the vectors to use, word2vec binary
	ContextFile    = "context.bin"         // the context table C, word2vec binary
	EncoderFile    = "encoder.safetensors" // what composes vectors of words, see package subword
	MetricsFile    = "metrics.jsonl"       // one Metric a line
	SummaryFile    = "summary.json"        // the Summary; a folder that has it is whole

	checkpointFolder = "checkpoint" // of a run that can be resumed, see checkpoint
)

var runFiles = []string{SummaryFile, ConfigFile, VocabularyFile, VectorsFile, ContextFile, EncoderFile, MetricsFile, checkpointFolder}

// Beside a run folder OUT there may be OUT.partial and OUT.replaced. A name
// means the same at any moment, also after the process was killed:
//
//	OUT           a whole run: finished, or interrupted with vectors to use
//	OUT.partial   a run in progress; config.toml is in it from the start
//	OUT.replaced  the run that was OUT while OUT.partial takes its place
//
// Each step from one state to the next is one rename or one atomic write:
//
//	create        OUT.partial appears, config.toml in it
//	begin         (resume of an interrupted OUT) OUT becomes OUT.partial
//	              ... checkpoints, vectors.bin, context.bin, summary.json ...
//	commit        the checkpoint of a finished run goes, OUT becomes
//	              OUT.replaced, OUT.partial becomes OUT, OUT.replaced goes
//
// summary.json is written last. A folder that has one without "interrupted" is
// finished and at most lacks its commit.
const (
	partialSuffix  = ".partial"
	replacedSuffix = ".replaced"
)

// errLocked says that a live process has a folder.
var errLocked = errors.New("another w2vcl is training there")

// A runFolder is a run folder in the making.
type runFolder struct {
	out   string   // absolute
	shown string   // OUT as the user named it
	dir   string   // where the files are now: OUT.partial, or OUT before begin
	lock  *os.File // may be nil: not every system has locks

	made bool // by this process, so it may be removed if nothing comes of it
	done bool // committed, or on the way
}

func newRunFolder(name string) (*runFolder, error) {
	abs, err := filepath.Abs(name)
	if err != nil {
		return nil, fmt.Errorf("run folder %s: %w", name, err)
	}
	return &runFolder{out: abs, shown: name}, nil
}

func (f *runFolder) partial() string  { return f.out + partialSuffix }
func (f *runFolder) replaced() string { return f.out + replacedSuffix }

// path returns where a file of the run is.
func (f *runFolder) path(name string) string { return filepath.Join(f.dir, name) }

// statePath returns where the checkpoint is.
func (f *runFolder) statePath() string { return f.path(filepath.Join(checkpointFolder, stateFile)) }

// createFolder makes OUT.partial, which also proves that OUT can be written
// before any work is spent. An existing OUT, and an OUT.partial that holds a
// run, are errors unless force is set; even then only a folder with nothing but
// a run's files in it is replaced.
func createFolder(out string, force bool) (*runFolder, error) {
	if out == "" {
		return nil, terminal.Usagef("--out is missing: name the folder to make for the run")
	}
	f, err := newRunFolder(out)
	if err != nil {
		return nil, err
	}
	for _, suffix := range []string{partialSuffix, replacedSuffix} {
		if strings.HasSuffix(f.out, suffix) {
			return nil, terminal.Usagef("--out %s: names that end with %s are for runs in progress: choose another", out, suffix)
		}
	}
	if err := f.checkReplaceable(force); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(f.out), 0o755); err != nil {
		return nil, fmt.Errorf("cannot make --out %s: %w", out, err)
	}
	if err := f.claim(force); err != nil {
		return nil, err
	}
	// A commit that was killed may have left the old run under its third name.
	if err = f.restoreReplaced(); err == nil {
		err = f.checkReplaceable(force)
	}
	if err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

// claim makes OUT.partial and locks it. One that is there already is taken over
// if it holds nothing, or if force is set.
func (f *runFolder) claim(force bool) error {
	err := os.Mkdir(f.partial(), 0o755)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("cannot make --out %s: %w", f.shown, err)
	}
	there := err != nil
	if err := f.lockDir(f.partial()); err != nil {
		return err
	}
	if there {
		if err := f.clearPartial(force); err != nil {
			f.close()
			return err
		}
	}
	f.made = true
	return nil
}

func (f *runFolder) clearPartial(force bool) error {
	if err := removeStray(f.dir); err != nil {
		return err
	}
	strange, err := strangeFile(f.dir)
	if err != nil {
		return err
	}
	if strange != "" {
		return fmt.Errorf("%s is needed to train --out %s, and holds %q, which is not a file of a run: choose another name, or move that away",
			f.dir, f.shown, strange)
	}
	if exists(f.path(ConfigFile)) && !force {
		return fmt.Errorf("%s holds an unfinished run: 'w2vcl resume %s' continues it, --force starts anew", f.dir, f.shown)
	}
	return removeRun(f.dir)
}

// lockDir makes dir the folder to work in.
func (f *runFolder) lockDir(dir string) error {
	lock, err := lockFolder(dir)
	if errors.Is(err, errLocked) {
		return fmt.Errorf("%s: %w: wait for it, or stop it first", dir, err)
	}
	if err != nil {
		return err
	}
	f.dir, f.lock = dir, lock
	return nil
}

// checkReplaceable returns nil if a run may be written to OUT.
func (f *runFolder) checkReplaceable(force bool) error {
	info, err := os.Lstat(f.out)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("cannot make --out %s: %w", f.shown, err)
	case !info.IsDir():
		return fmt.Errorf("--out %s exists and is not a folder: choose another name", f.shown)
	case !force:
		return fmt.Errorf("--out %s exists: choose another name, or replace it with --force", f.shown)
	}
	strange, err := strangeFile(f.out)
	if err != nil {
		return fmt.Errorf("--out %s: %w", f.shown, err)
	}
	if strange != "" {
		return fmt.Errorf("--force replaces run folders only, and %s holds %q, which is not a file of a run: choose another name, or move that away",
			f.shown, strange)
	}
	return nil
}

// strangeFile returns the name of something in a folder that is not of a run,
// or "".
func strangeFile(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if !slices.Contains(runFiles, e.Name()) {
			return e.Name(), nil
		}
	}
	return "", err
}

// openFolder finds the run to resume: OUT.partial, else OUT. The name may be
// that of either.
func openFolder(name string) (*runFolder, error) {
	f, err := newRunFolder(strings.TrimSuffix(filepath.Clean(name), partialSuffix))
	if err != nil {
		return nil, err
	}
	err = f.lockDir(f.partial())
	if errors.Is(err, fs.ErrNotExist) { // no run in progress
		if err = f.restoreReplaced(); err == nil {
			err = f.lockDir(f.out)
		}
	} else if err == nil {
		err = f.restoreReplaced()
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s: there is no such run, and no %s%s", f.shown, f.shown, partialSuffix)
	}
	if err == nil {
		err = f.checkRun()
	}
	if err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

// checkRun makes sure that the folder is that of a run and can be committed,
// and removes what a killed process left of the files it was writing.
func (f *runFolder) checkRun() error {
	if _, err := os.Stat(f.path(ConfigFile)); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s holds no %s, so there is no run to resume: start it with 'w2vcl train'", f.dir, ConfigFile)
	} else if err != nil {
		return fmt.Errorf("%s is no run to resume: %w", f.dir, err)
	}
	if f.dir == f.partial() {
		if err := f.checkReplaceable(true); err != nil {
			return err
		}
	}
	return errors.Join(removeStray(f.dir), removeStray(f.path(checkpointFolder)))
}

func removeStray(dir string) error {
	if err := atomicfile.RemoveStray(dir); err != nil {
		return fmt.Errorf("cannot remove what a killed run left: %w", err)
	}
	return nil
}

// summary returns the summary of a whole folder; ok is false if there is none.
func (f *runFolder) summary() (s Summary, ok bool, err error) {
	data, err := os.ReadFile(f.path(SummaryFile))
	if errors.Is(err, fs.ErrNotExist) {
		return s, false, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &s)
	}
	if err != nil {
		return s, false, fmt.Errorf("%s: %w", f.path(SummaryFile), err)
	}
	return s, true, nil
}

// begin makes an interrupted run one in progress again.
func (f *runFolder) begin() error {
	if f.dir == f.partial() {
		return nil
	}
	if err := os.Rename(f.dir, f.partial()); err != nil {
		return fmt.Errorf("cannot resume %s: %w", f.shown, err)
	}
	f.dir = f.partial()
	return nil
}

// finish writes the summary, which makes the folder whole, and puts it in its
// place.
func (f *runFolder) finish(s Summary) error {
	if err := atomicfile.Write(f.path(SummaryFile), s.writeJSON); err != nil {
		return err
	}
	return f.commit(s)
}

// commit puts the whole folder in its place. The checkpoint of a finished run
// is not needed any more.
func (f *runFolder) commit(s Summary) error {
	f.done = true // from here on the work is done and never removed
	if f.dir == f.out {
		return nil
	}
	if !s.Interrupted {
		if err := os.RemoveAll(f.path(checkpointFolder)); err != nil {
			return fmt.Errorf("cannot finish %s: %w", f.out, err)
		}
	}
	old := f.replaced()
	if err := os.Rename(f.out, old); err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("cannot replace %s: %w (the new run is in %s)", f.out, err, f.dir)
		}
		old = ""
	}
	if err := os.Rename(f.dir, f.out); err != nil {
		if old != "" {
			_ = os.Rename(old, f.out) // best effort: the error below tells where all is
		}
		return fmt.Errorf("cannot finish %s: %w (the new run is in %s)", f.out, err, f.dir)
	}
	f.dir = f.out
	if old != "" {
		if err := removeRunFolder(old); err != nil {
			return fmt.Errorf("the run is in %s, but the folder it replaced cannot be removed: %w", f.out, err)
		}
	}
	return nil
}

// restoreReplaced undoes the first half of a commit that was killed, or brings
// the second half to its end.
func (f *runFolder) restoreReplaced() error {
	switch {
	case !exists(f.replaced()):
		return nil
	case !exists(f.out):
		return os.Rename(f.replaced(), f.out)
	}
	return removeRunFolder(f.replaced())
}

// removeRun removes the files of a run, summary.json first: what is left after
// a kill must not look like a whole run.
func removeRun(dir string) error {
	for _, name := range runFiles {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("cannot remove an earlier run: %w", err)
		}
	}
	return nil
}

func removeRunFolder(dir string) error {
	return errors.Join(removeStray(dir), removeRun(dir), os.Remove(dir))
}

// hasCheckpoint reports whether the run can be resumed from further than its
// start.
func (f *runFolder) hasCheckpoint() bool {
	return exists(f.statePath())
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// close gives the folder up. If nothing came of the run, and nobody could
// resume it, the folder goes.
func (f *runFolder) close() {
	if f.made && !f.done && !f.hasCheckpoint() {
		_ = removeRunFolder(f.dir) // nothing better to do with a failure on a failure
	}
	if f.lock != nil {
		f.lock.Close()
	}
}
