package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/w2vcl/w2vcl/internal/atomicfile"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/runfolder"
)

// A fileUse says what a command does with a file.
type fileUse int

const (
	fileInput   fileUse = iota // read: a file, a folder or a pipe
	fileMapped                 // read: a regular file only
	fileStream                 // read: a file, a pipe, or - for standard input
	fileText                   // read: as fileStream, or all files in a folder and below
	fileOutput                 // written: a file that is there is replaced with --force; - is standard output
	fileOwn                    // written: a file of its kind that is there is replaced without --force
	fileKept                   // read if it is there, else written: a regular file
	fileFolder                 // a folder that files are added to
	fileRun                    // a run folder that is made
	fileResumed                // a run folder that goes on
)

func (u fileUse) isOutput() bool { return u >= fileOutput }

// writesFile reports whether the path is that of one file, which is written.
func (u fileUse) writesFile() bool { return u == fileOutput || u == fileOwn || u == fileKept }

// A file is a path that a command was given.
type file struct {
	name string // of its flag or argument, in messages
	path string // empty: not given
	use  fileUse
	kind fileKind // of a file that is written

	place string      // where it leads to: absolute, without links
	info  fs.FileInfo // nil: there is no such file
	err   error       // why an output cannot be found
}

// guardFiles checks all files of a command before any work: an output is no input and
// no other output, lies in nobody's run folder, and replaces nothing that is not of
// its kind. Mistakes that the command line alone shows are a [terminal.UsageError].
func guardFiles(files []file, force bool) error {
	var given []*file
	for i := range files {
		if files[i].path != "" {
			given = append(given, &files[i])
		}
	}
	if err := checkStreams(given); err != nil {
		return err
	}
	for _, f := range given {
		f.find()
	}
	for i, f := range given {
		for k, other := range given {
			if i != k && f.use.isOutput() {
				if err := f.checkAgainst(other, k < i); err != nil {
					return err
				}
			}
		}
	}
	for _, f := range given {
		if err := f.check(force); err != nil {
			return err
		}
	}
	return nil
}

// checkStreams refuses standard input and output where they cannot stand, or twice.
func checkStreams(files []*file) error {
	first := map[bool]*file{} // by whether it is an output
	for _, f := range files {
		out := f.use.isOutput()
		if !f.isStream() {
			continue
		}
		if f.path == "-" && f.use != fileStream && f.use != fileText && f.use != fileOutput {
			return terminal.Usagef("%s -: standard input or output cannot stand here; a file of that name is ./-", f.name)
		}
		if before := first[out]; before != nil {
			return terminal.Usagef("%s %s and %s %s: standard input or output serves only one of them", before.name, before.path, f.name, f.path)
		}
		first[out] = f
	}
	return nil
}

// isStream reports whether the path stands for standard input or output.
func (f *file) isStream() bool {
	return f.path == "-" || f.use.isOutput() && atomicfile.IsStandardOutput(f.path)
}

// find sets place and info, or err.
func (f *file) find() {
	if f.isStream() {
		return
	}
	place, err := atomicfile.Resolve(f.path)
	if err == nil {
		if f.info, err = os.Stat(place); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	switch {
	case err == nil:
		f.place = place
	case f.use == fileRun:
		f.err = fmt.Errorf("cannot make %s %s: %w", f.name, f.path, cause(err))
	case f.use.isOutput(): // the command says what is wrong with an input
		f.err = fmt.Errorf("cannot write %s %s: %w", f.name, f.path, cause(err))
	}
}

// cause returns an error of the system without the name of the file.
func cause(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// isSpecial reports whether the file is a pipe or device, which is never replaced.
func (f *file) isSpecial() bool {
	return f.info != nil && !f.info.Mode().IsRegular() && !f.info.IsDir()
}

// folders lists the folders whose files the command makes or removes at will.
func (f *file) folders() []string {
	if f.use != fileRun && f.use != fileResumed {
		return nil
	}
	return runfolder.Names(f.place)
}

// checkAgainst compares an output with another file. Two outputs meet twice; again
// says that this is the second time.
func (f *file) checkAgainst(other *file, again bool) error {
	if f.place == "" || other.place == "" || f.isSpecial() || other.isSpecial() {
		return nil
	}
	same := f.place == other.place || f.info != nil && other.info != nil && os.SameFile(f.info, other.info)
	switch {
	case same && other.use.isOutput() && again:
		return terminal.Usagef("%s %s and %s %s name the same file: choose two", other.name, other.path, f.name, f.path)
	case same && other.use.isOutput():
		return nil
	case same:
		return terminal.Usagef("%s %s is the same as %s %s, which is read: choose another name", f.name, f.path, other.name, other.path)
	case other.use == fileText && other.info != nil && other.info.IsDir() && within(f.place, other.place):
		return fmt.Errorf("%s %s lies in the folder of %s %s, where the next run would read it as text: choose another place",
			f.name, f.path, other.name, other.path)
	}
	for _, folder := range f.folders() {
		if !within(other.place, folder) {
			continue
		}
		if other.use.isOutput() {
			return terminal.Usagef("%s %s lies in the run folder of %s %s: choose another place", other.name, other.path, f.name, f.path)
		}
		return terminal.Usagef("%s %s lies in the run folder of %s %s, which would be replaced: choose another name", other.name, other.path, f.name, f.path)
	}
	return nil
}

// within reports whether path is in folder or below, or the folder itself.
func within(path, folder string) bool {
	relative, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(relative)
}

// check checks a file by itself.
func (f *file) check(force bool) error {
	special := f.isSpecial()
	switch {
	case f.isStream():
		return nil
	case f.err != nil:
		return f.err
	case special && (f.use == fileMapped || f.use == fileKept || f.use == fileOwn):
		return fmt.Errorf("%s %s is a %s: name a regular file", f.name, f.path, specialKind(f.info.Mode()))
	case special && f.info.Mode()&fs.ModeSocket != 0:
		return fmt.Errorf("%s %s is a socket: name a file", f.name, f.path)
	case !f.use.isOutput() || special && f.use == fileOutput:
		return nil
	}
	if folder := f.strangeRun(); folder != "" {
		return fmt.Errorf("%s %s lies in the run folder %s, which is for the files of that run: choose another place", f.name, f.path, folder)
	}
	if !f.use.writesFile() {
		return f.checkFolder()
	}
	if err := f.checkReplaceable(force); err != nil {
		return err
	}
	return f.probe(filepath.Dir(f.place))
}

// specialKind names a kind of file.
func specialKind(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeNamedPipe != 0:
		return "pipe"
	case mode&fs.ModeSocket != 0:
		return "socket"
	default:
		return "device"
	}
}

// strangeRun returns the run folder of another run that the output lies in, or "".
func (f *file) strangeRun() string {
	folder := f.place
	if f.use != fileFolder { // that of a run may be a run folder
		folder = filepath.Dir(folder)
	}
	for {
		if runfolder.IsRun(folder) {
			return folder
		}
		parent := filepath.Dir(folder)
		if parent == folder {
			return ""
		}
		folder = parent
	}
}

// checkFolder checks a folder to write to. Package runfolder checks run folders, when
// it has locked them.
func (f *file) checkFolder() error {
	if f.use != fileFolder {
		return nil
	}
	if f.info != nil && !f.info.IsDir() {
		return fmt.Errorf("%s %s is a file: name a folder", f.name, f.path)
	}
	return f.probe(f.place)
}

// checkReplaceable refuses to replace what is there.
func (f *file) checkReplaceable(force bool) error {
	switch {
	case f.info == nil:
		return nil
	case f.info.IsDir():
		return fmt.Errorf("%s %s is a folder; name a file", f.name, f.path)
	case f.use == fileOutput && !force:
		return fmt.Errorf("%s %s exists: choose another name, or replace it with --force", f.name, f.path)
	case f.info.Size() == 0 || f.kind.is(f.place):
		return nil
	case force:
		return fmt.Errorf("%s %s exists and is not %s; --force replaces nothing else: choose another name, or move that away", f.name, f.path, f.kind.name)
	default:
		return fmt.Errorf("%s %s exists and is not %s: choose another name, or move that away", f.name, f.path, f.kind.name)
	}
}

// probe makes sure that files can be made in a folder, or in the next one above that
// is there: a command makes the rest.
func (f *file) probe(folder string) error {
	for f.use == fileFolder || f.use == fileOwn {
		if _, err := os.Stat(folder); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		folder = filepath.Dir(folder)
	}
	probe, err := os.CreateTemp(folder, ".w2vcl-probe-*")
	if err != nil {
		return fmt.Errorf("cannot write %s %s: %w", f.name, f.path, cause(err))
	}
	probe.Close()
	return os.Remove(probe.Name())
}

// A fileKind is a kind of file that w2vcl writes.
type fileKind struct {
	name string                 // with its article
	is   func(path string) bool // whether a file is of that kind
}

// headBytes are the first bytes of a file that tell its kind.
const headBytes = 4096

// headKind returns a kind that shows in the first bytes of a file.
func headKind(name string, is func(head string) bool) fileKind {
	return fileKind{name, func(path string) bool {
		f, err := os.Open(path)
		if err != nil {
			return false
		}
		defer f.Close()
		head := make([]byte, headBytes)
		n, _ := io.ReadFull(f, head)
		return is(string(head[:n]))
	}}
}

// startKind returns a kind of files that begin with one of some texts.
func startKind(name string, starts ...string) fileKind {
	return headKind(name, func(head string) bool {
		for _, start := range starts {
			if strings.HasPrefix(head, start) {
				return true
			}
		}
		return false
	})
}
