package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/w2vcl/w2vcl/internal/atomicfile"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/train/runfolder"
)

// A FileUse says what a command does with a file.
type FileUse int

// What a command does with a file.
const (
	FileInput   FileUse = iota // read: a file, a folder or a pipe
	FileMapped                 // read: a regular file only
	FileStream                 // read: a file, a pipe, or - for standard input
	FileText                   // read: as fileStream, or all files in a folder and below
	FileOutput                 // written: a file that is there is replaced with --force; - is standard output
	FileOwn                    // written: a file of its kind that is there is replaced without --force
	FileKept                   // read if it is there, else written: a regular file
	FileFolder                 // a folder that files are added to
	FileRun                    // a run folder that is made
	FileResumed                // a run folder that goes on
)

// IsOutput reports whether the command writes the file.
func (u FileUse) IsOutput() bool { return u >= FileOutput }

// writesFile reports whether the path is that of one file, which is written.
func (u FileUse) writesFile() bool { return u == FileOutput || u == FileOwn || u == FileKept }

// A File is a path that a command was given.
type File struct {
	Name string // of its flag or argument, in messages
	Path string // empty: not given
	Use  FileUse
	Kind FileKind // of a file that is written

	// Again says that the command reads the file more than once, which a pipe cannot be.
	Again bool

	place string      // where it leads to: absolute, without links
	info  fs.FileInfo // nil: there is no such file
	err   error       // why an output cannot be found
}

// guardFiles checks all files of a command before any work: an output is no input and
// no other output, lies in nobody's run folder, and replaces nothing that is not of
// its kind. Mistakes that the command line alone shows are a [terminal.UsageError].
func guardFiles(files []File, force bool) error {
	var given []*File
	for i := range files {
		if files[i].Path != "" {
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
			if i != k && f.Use.IsOutput() {
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

// readOnce ends a refusal of what a command would read again.
const readOnce = "can be read only once, but this command reads it again: save it to a file and name that"

// checkStreams refuses standard input and output where they cannot stand, or twice.
func checkStreams(files []*File) error {
	first := map[bool]*File{} // by whether it is an output
	for _, f := range files {
		out := f.Use.IsOutput()
		if !f.isStream() {
			continue
		}
		if !out && f.Again {
			return terminal.Usagef("%s %s: standard input %s", f.Name, f.Path, readOnce)
		}
		if f.Path == "-" && f.Use != FileStream && f.Use != FileText && f.Use != FileOutput {
			return terminal.Usagef("%s -: standard input or output cannot stand here; a file of that name is ./-", f.Name)
		}
		if before := first[out]; before != nil {
			return terminal.Usagef("%s %s and %s %s: standard input or output serves only one of them", before.Name, before.Path, f.Name, f.Path)
		}
		first[out] = f
	}
	return nil
}

// isStream reports whether the path stands for standard input or output.
func (f *File) isStream() bool {
	if f.Use.IsOutput() {
		return atomicfile.IsStandardOutput(f.Path)
	}
	return atomicfile.IsStandardInput(f.Path)
}

// find sets place and info, or err.
func (f *File) find() {
	if f.Path == "-" || f.Use.IsOutput() && f.isStream() {
		return
	}
	place, err := atomicfile.Resolve(f.Path)
	if err == nil { // the place of a pipe of the shell, /dev/fd/63, does not exist
		if f.info, err = os.Stat(f.Path); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	switch {
	case err == nil:
		f.place = place
	case f.Use == FileRun:
		f.err = fmt.Errorf("cannot make %s %s: %w", f.Name, f.Path, Cause(err))
	case f.Use.IsOutput(): // the command says what is wrong with an input
		f.err = fmt.Errorf("cannot write %s %s: %w", f.Name, f.Path, Cause(err))
	}
}

// Cause returns an error of the system without the name of the file.
func Cause(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// isSpecial reports whether the file is a pipe or device, which is never replaced.
func (f *File) isSpecial() bool {
	return f.info != nil && !f.info.Mode().IsRegular() && !f.info.IsDir()
}

// folders lists the folders whose files the command makes or removes at will.
func (f *File) folders() []string {
	if f.Use != FileRun && f.Use != FileResumed {
		return nil
	}
	return runfolder.Names(f.place)
}

// checkAgainst compares an output with another file. Two outputs meet twice; again
// says that this is the second time.
func (f *File) checkAgainst(other *File, again bool) error {
	if f.place == "" || other.place == "" || f.isSpecial() || other.isSpecial() {
		return nil
	}
	same := f.place == other.place || f.info != nil && other.info != nil && os.SameFile(f.info, other.info)
	switch {
	case same && other.Use.IsOutput() && again:
		return terminal.Usagef("%s %s and %s %s name the same file: choose two", other.Name, other.Path, f.Name, f.Path)
	case same && other.Use.IsOutput():
		return nil
	case same:
		return terminal.Usagef("%s %s is the same as %s %s, which is read: choose another name", f.Name, f.Path, other.Name, other.Path)
	case other.Use == FileText && other.info != nil && other.info.IsDir() && within(f.place, other.place):
		return fmt.Errorf("%s %s lies in the folder of %s %s, where the next run would read it as text: choose another place",
			f.Name, f.Path, other.Name, other.Path)
	}
	for _, folder := range f.folders() {
		if !within(other.place, folder) {
			continue
		}
		if other.Use.IsOutput() {
			return terminal.Usagef("%s %s lies in the run folder of %s %s: choose another place", other.Name, other.Path, f.Name, f.Path)
		}
		return terminal.Usagef("%s %s lies in the run folder of %s %s, which would be replaced: choose another name", other.Name, other.Path, f.Name, f.Path)
	}
	return nil
}

// within reports whether path is in folder or below, or the folder itself.
func within(path, folder string) bool {
	relative, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(relative)
}

// check checks a file by itself.
func (f *File) check(force bool) error {
	special := f.isSpecial()
	switch {
	case f.Use.IsOutput() && f.isStream():
		return nil
	case f.err != nil:
		return f.err
	case special && f.Again:
		return fmt.Errorf("%s %s is a %s, which %s", f.Name, f.Path, specialKind(f.info.Mode()), readOnce)
	case special && (f.Use == FileMapped || f.Use == FileKept || f.Use == FileOwn):
		return fmt.Errorf("%s %s is a %s: name a regular file", f.Name, f.Path, specialKind(f.info.Mode()))
	case special && f.info.Mode()&fs.ModeSocket != 0:
		return fmt.Errorf("%s %s is a socket: name a file", f.Name, f.Path)
	case f.isMissing():
		return missing(f)
	case !f.Use.IsOutput() || special && f.Use == FileOutput:
		return nil
	}
	if folder := f.strangeRun(); folder != "" {
		return fmt.Errorf("%s %s lies in the run folder %s, which is for the files of that run: choose another place", f.Name, f.Path, folder)
	}
	if !f.Use.writesFile() {
		return f.checkFolder()
	}
	if err := f.checkReplaceable(force); err != nil || f.Use == FileKept && f.info != nil && f.info.Size() > 0 && !force {
		return err
	}
	return f.probe(filepath.Dir(f.place))
}

// isMissing reports whether an input is not there. Vectors as arguments, --config and --corpus have messages of their own. A
// run that is still going has another name.
func (f *File) isMissing() bool {
	switch {
	case f.place == "" || f.info != nil:
		return false
	case strings.HasPrefix(f.Name, "--"):
		return f.Use == FileStream || f.Use == FileInput && runfolder.Unfinished(f.Path) == ""
	default:
		return f.Use == FileStream || f.Use == FileText
	}
}

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
func (f *File) strangeRun() string {
	folder := f.place
	if f.Use != FileFolder { // that of a run may be a run folder
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
func (f *File) checkFolder() error {
	if f.Use != FileFolder {
		return nil
	}
	if f.info != nil && !f.info.IsDir() {
		return fmt.Errorf("%s %s is a file: name a folder", f.Name, f.Path)
	}
	return f.probe(f.place)
}

// checkReplaceable refuses to replace what is there.
func (f *File) checkReplaceable(force bool) error {
	switch {
	case f.info == nil:
		return nil
	case f.info.IsDir():
		return fmt.Errorf("%s %s is a folder; name a file", f.Name, f.Path)
	case f.info.Size() == 0: // mktemp made it
		return nil
	case f.Use == FileOutput && !force:
		return fmt.Errorf("%s %s exists: choose another name, or replace it with --force", f.Name, f.Path)
	case f.Kind.Is(f.place):
		return nil
	case force:
		return fmt.Errorf("%s %s exists and is not %s; --force replaces nothing else: choose another name, or move that away", f.Name, f.Path, f.Kind.Name)
	default:
		return fmt.Errorf("%s %s exists and is not %s: choose another name, or move that away", f.Name, f.Path, f.Kind.Name)
	}
}

// probe makes sure that files can be made in a folder, or in the next one above that
// is there: a command makes the rest.
func (f *File) probe(folder string) error {
	for f.Use == FileFolder || f.Use == FileOwn {
		if _, err := os.Stat(folder); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		folder = filepath.Dir(folder)
	}
	probe, err := os.CreateTemp(folder, ".w2vcl-probe-*")
	if err != nil {
		return fmt.Errorf("cannot write %s %s: %w", f.Name, f.Path, Cause(err))
	}
	probe.Close()
	return os.Remove(probe.Name())
}

// A FileKind is a kind of file that w2vcl writes.
type FileKind struct {
	Name string                 // with its article
	Is   func(path string) bool // whether a file is of that kind
}

// HeadBytes are the first bytes of a file that tell its kind.
const HeadBytes = 4096

// HeadKind returns a kind that shows in the first bytes of a file.
func HeadKind(name string, is func(head string) bool) FileKind {
	return FileKind{name, func(path string) bool {
		f, err := os.Open(path)
		if err != nil {
			return false
		}
		defer f.Close()
		head := make([]byte, HeadBytes)
		n, _ := io.ReadFull(f, head)
		return is(string(head[:n]))
	}}
}

// StartKind returns a kind of files that begin with one of some texts.
func StartKind(name string, starts ...string) FileKind {
	return HeadKind(name, func(head string) bool {
		return slices.ContainsFunc(starts, func(start string) bool { return strings.HasPrefix(head, start) })
	})
}
