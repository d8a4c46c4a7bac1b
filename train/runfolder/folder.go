// Package runfolder is all that a run leaves behind: the run folder and the states
// it goes through, the checkpoint, the metrics and the summary.
//
// Start at [Open] to read a run, also one that is still going; eval, neighbors,
// compare and --init all do. Start at [Create] to write one: the comment on its
// states in folder.go says what a name means at any moment.
package runfolder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/w2vcl/w2vcl/internal/atomicfile"
	"github.com/w2vcl/w2vcl/internal/terminal"
)

// The files of a run folder.
const (
	ConfigFile     = "config.toml"         // resolved settings, see settings.Config.TOML
	VocabularyFile = "vocab.tsv"           // word, tab, count
	VectorsFile    = "vectors.bin"         // the vectors to use, word2vec binary
	ContextFile    = "context.bin"         // the context table C, word2vec binary
	PositionsFile  = "positions.bin"       // weights of positions in a window, word2vec binary
	EncoderFile    = "encoder.safetensors" // the encoder of words by their spelling, see package subword
	FitFile        = "fit.safetensors"     // n-grams fitted to the vectors: they compose unseen words in the encoder's place
	MetricsFile    = "metrics.jsonl"       // one Metric a line
	SummaryFile    = "summary.json"        // the Summary; a folder that has it is whole
	TextFile       = "text.w2vtext"        // a large text, encoded, while the run goes on; see package corpus/encoded

	checkpointFolder = "checkpoint"
	CheckpointFile   = checkpointFolder + "/state.safetensors" // see Checkpoint
)

// runFiles are all names in a run folder. removeRun removes them in this order.
var runFiles = []string{SummaryFile, ChecksumsFile, ConfigFile, VocabularyFile, VectorsFile, ContextFile, PositionsFile, EncoderFile, FitFile, MetricsFile, TextFile, checkpointFolder}

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
//	              ... checkpoints, vectors.bin, context.bin, checksums.txt, summary.json ...
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

// A Folder is a run folder in the making.
type Folder struct {
	Name string // OUT as the user named it
	Dir  string // the folder of the files now: OUT.partial, or OUT before Begin

	out   string      // OUT, absolute and without links
	lock  *os.File    // may be nil: not every system has locks
	found os.FileInfo // of the folder that was locked; nil: none was
	force bool        // an OUT that is there may be replaced

	KeepCheckpoint bool // also of a finished run

	sums    *checksums
	metrics *MetricsLog // nil: not open

	made bool // by this process, so it may be removed if nothing comes of it
	done bool // committed, or on the way
}

func newFolder(name string) (*Folder, error) {
	out, err := atomicfile.Resolve(name)
	if err != nil {
		return nil, err
	}
	return &Folder{out: out, Name: name, sums: &checksums{sums: map[string]uint64{}}}, nil
}

func (f *Folder) partial() string  { return f.out + partialSuffix }
func (f *Folder) replaced() string { return f.out + replacedSuffix }

// Path returns the path of a file of the run.
func (f *Folder) Path(name string) string { return filepath.Join(f.Dir, name) }

// Create makes OUT.partial, which also proves that OUT can be written
// before any work is spent. An existing OUT, and an OUT.partial that holds a
// run, are errors unless force is set; even then only a folder with nothing but
// a run's files in it is replaced.
func Create(out string, force bool) (*Folder, error) {
	if out == "" {
		return nil, terminal.Usagef("--out is missing: name the folder to make for the run")
	}
	f, err := newFolder(out)
	if err != nil {
		return nil, fmt.Errorf("cannot make --out %s: %w", out, err)
	}
	f.force = force
	for _, suffix := range []string{partialSuffix, replacedSuffix} {
		if strings.HasSuffix(f.out, suffix) {
			return nil, terminal.Usagef("--out %s: names that end with %s are for runs in progress: choose another", out, suffix)
		}
	}
	if err := f.checkReplaceable(); err != nil {
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
		err = f.checkReplaceable()
	}
	if err == nil {
		err = f.tryReplacing()
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// claim makes OUT.partial and locks it. One that is there already is taken over
// if it holds nothing, or if force is set.
func (f *Folder) claim(force bool) error {
	err := os.Mkdir(f.partial(), 0o755)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("cannot make --out %s: %w", f.Name, err)
	}
	there := err != nil
	switch err := f.lockDir(f.partial()); {
	case errors.Is(err, fs.ErrNotExist): // who had it has just ended
		return f.claim(force)
	case err != nil:
		return err
	}
	if there {
		if err := f.clearPartial(force); err != nil {
			f.unlock()
			return err
		}
	}
	f.made = true
	f.sums = &checksums{sums: map[string]uint64{}}
	return nil
}

func (f *Folder) clearPartial(force bool) error {
	if err := errors.Join(removeStray(f.Dir), removeStray(f.Path(checkpointFolder))); err != nil {
		return err
	}
	strange, err := strangeFile(f.Dir)
	if err != nil {
		return err
	}
	if strange != "" {
		return fmt.Errorf("%s is needed to train --out %s, and holds %q, which is not a file of a run: choose another name, or move that away",
			f.Dir, f.Name, strange)
	}
	if exists(f.Path(ConfigFile)) && !force {
		return fmt.Errorf("%s holds an unfinished run: 'w2vcl resume %s' continues it, --force starts anew", f.Dir, f.Name)
	}
	return removeRun(f.Dir)
}

func (f *Folder) lockDir(dir string) error {
	lock, err := lockFolder(dir)
	if errors.Is(err, errLocked) {
		return fmt.Errorf("%s: %w: wait for it, or stop it first", dir, err)
	}
	if err != nil {
		return err
	}
	f.Dir, f.lock = dir, lock
	f.found, err = os.Stat(dir)
	return err
}

// Lock claims a folder of several runs until unlock is called.
func Lock(dir string) (unlock func(), err error) {
	f := &Folder{}
	return f.unlock, f.lockDir(dir)
}

// Reopen finds the run to resume: OUT.partial, else OUT. Both names will do.
func Reopen(name string) (*Folder, error) {
	f, err := newFolder(strings.TrimSuffix(filepath.Clean(name), partialSuffix))
	if err != nil {
		return nil, fmt.Errorf("cannot resume %s: %w", name, err)
	}
	f.force = true
	err = f.lockDir(f.partial())
	if errors.Is(err, fs.ErrNotExist) { // no run in progress
		if err = f.restoreReplaced(); err == nil {
			err = f.lockDir(f.out)
		}
	} else if err == nil {
		err = f.restoreReplaced()
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s: there is no such run, and no %s%s", f.Name, f.Name, partialSuffix)
	}
	if err == nil {
		err = f.checkRun()
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// checkRun makes sure that the folder holds a run and can be committed,
// and removes the unfinished files of a killed process.
func (f *Folder) checkRun() error {
	if _, err := os.Stat(f.Path(ConfigFile)); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s holds no %s, so there is no run to resume: start it with 'w2vcl train'", f.Dir, ConfigFile)
	} else if info, statErr := os.Stat(f.Dir); statErr == nil && !info.IsDir() {
		return fmt.Errorf("%s is a file: name the folder of the run to resume", f.Name)
	} else if err != nil {
		return fmt.Errorf("%s is no run to resume: %w", f.Dir, err)
	}
	if f.Dir == f.partial() {
		if err := f.checkReplaceable(); err != nil {
			return err
		}
	}
	if err := errors.Join(removeStray(f.Dir), removeStray(f.Path(checkpointFolder))); err != nil {
		return err
	}
	var err error
	if f.sums, err = openChecksums(f.Dir); err != nil {
		return err
	}
	return checkAll(f.Dir, ConfigFile, MetricsFile)
}

func removeStray(dir string) error {
	if err := atomicfile.RemoveStray(dir); err != nil {
		return fmt.Errorf("cannot remove the unfinished files of a killed run: %w", err)
	}
	return nil
}

// Summary returns the summary of a whole folder; ok is false if there is none.
func (f *Folder) Summary() (s Summary, ok bool, err error) { return readSummary(f.Dir) }

// Begin makes an interrupted run one in progress again.
func (f *Folder) Begin() error {
	if f.Dir == f.partial() {
		return nil
	}
	if err := f.Lost(); err != nil {
		return fmt.Errorf("cannot resume %s: %w", f.Name, err)
	}
	if err := os.Rename(f.Dir, f.partial()); err != nil {
		return fmt.Errorf("cannot resume %s: %w", f.Name, err)
	}
	f.Dir = f.partial()
	return nil
}

// Finish ends the metrics, writes the checksums and the summary, which makes the
// folder whole, and puts it in its place.
func (f *Folder) Finish(s Summary) error {
	if err := f.Lost(); err != nil {
		return err
	}
	if err := f.finishMetrics(); err != nil {
		return err
	}
	if err := f.writeLast(s); err != nil {
		return err
	}
	return f.Commit(s)
}

// Commit puts the whole folder in its place. The checkpoint of a finished run
// is not needed any more.
func (f *Folder) Commit(s Summary) error {
	f.done = true // from here on the work is done and never removed
	if f.Dir == f.out {
		return nil
	}
	if err := f.Lost(); err != nil {
		return err
	}
	if err := f.checkReplaceable(); err != nil { // it came while the run was trained
		return fmt.Errorf("%w; the new run is in %s: when %s is moved away, 'w2vcl resume %s' puts it in its place", err, f.Dir, f.Name, f.Name)
	}
	if !s.Interrupted {
		for _, name := range []string{CheckpointFile, TextFile} {
			if name == CheckpointFile && f.KeepCheckpoint {
				continue
			}
			if err := removeFile(f.Path(name)); err != nil {
				return fmt.Errorf("cannot finish %s: %w", f.out, err)
			}
		}
		os.Remove(f.Path(checkpointFolder)) // unless somebody put a file there
	}
	old := f.replaced()
	if err := os.Rename(f.out, old); err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("cannot replace %s: %w (the new run is in %s)", f.out, err, f.Dir)
		}
		old = ""
	}
	if err := os.Rename(f.Dir, f.out); err != nil {
		if old != "" {
			_ = os.Rename(old, f.out) // best effort: the error below tells where all is
		}
		return fmt.Errorf("cannot finish %s: %w (the new run is in %s)", f.out, err, f.Dir)
	}
	f.Dir = f.out
	if err := f.Lost(); err != nil {
		return err
	}
	if old != "" {
		if err := removeRunFolder(old); err != nil {
			return fmt.Errorf("the run is in %s, but the folder it replaced cannot be removed: %w", f.out, err)
		}
	}
	return nil
}

// restoreReplaced undoes the first half of a commit that was killed, or brings
// the second half to its end.
func (f *Folder) restoreReplaced() error {
	switch {
	case !exists(f.replaced()):
		return nil
	case !exists(f.out):
		return os.Rename(f.replaced(), f.out)
	}
	return removeRunFolder(f.replaced())
}

// RemoveVectors removes the vectors and their encoders, if there are any.
func (f *Folder) RemoveVectors() (err error) {
	for _, name := range []string{VectorsFile, ContextFile, PositionsFile, EncoderFile, FitFile} {
		err = errors.Join(err, removeFile(f.Path(name)))
	}
	return err
}

// HasCheckpoint reports whether the run can be resumed from further than its
// start.
func (f *Folder) HasCheckpoint() bool {
	return exists(f.Path(CheckpointFile))
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// Close gives the folder up. If nothing came of the run, and nobody could
// resume it, the folder goes.
func (f *Folder) Close() {
	if f.made && !f.done && !f.HasCheckpoint() && f.Lost() == nil {
		_ = removeRunFolder(f.Dir) // nothing better to do with a failure on a failure
	}
	f.unlock()
}

func (f *Folder) unlock() {
	if f.lock != nil {
		f.lock.Close()
		f.lock = nil
	}
}
