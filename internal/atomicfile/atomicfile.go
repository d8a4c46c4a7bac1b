// Package atomicfile writes files that are either whole or absent, and files that
// change together. Start at [Write].
package atomicfile

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/w2vcl/w2vcl/internal/parallel"
)

// Write lets write fill a temporary file beside path, through a buffer, then syncs
// the file and renames it to path. A reader sees the old content or the new one,
// never a part. On error, Write removes the temporary file and leaves the file at
// path as it is.
//
// Write follows links: the file that a link leads to is replaced, the link stays.
// Pipes, devices and standard output (see [IsStandardOutput]) are written to and never
// replaced.
//
// Write also removes temporary files that killed processes left for the same path.
func Write(path string, write func(w io.Writer) error) error {
	return WriteAll(File{path, write})
}

// A File is one of several that [WriteAll] writes.
type File struct {
	Path  string
	Write func(w io.Writer) error
}

// WriteAll is Write for files that belong together. It writes and syncs all files, moves
// the old ones away, and renames the new ones. So whenever the process is killed, a new
// file never stands beside an old one; at worst some files are missing. On error, the old
// files are put back. Pipes, devices and standard output are written in their turn.
func WriteAll(files ...File) error {
	var s set
	return s.write(1, files)
}

// WriteAtOnce is WriteAll of regular files in a folder that the caller has to itself. It calls the writers of all files at the same time.
func WriteAtOnce(files ...File) error {
	s := set{alone: true}
	return s.write(len(files), files)
}

func (s *set) write(threads int, files []File) error {
	defer s.discard()
	err := parallel.Try(context.Background(), threads, len(files), func(_, i int) error {
		if err := s.add(files[i]); err != nil {
			return fmt.Errorf("cannot write %s: %w", files[i].Path, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return s.publish()
}

// WriteFile is Write for a file that is not written from start to end, and so must be a
// regular file.
func WriteFile(path string, write func(f *os.File) error) error {
	var s set
	defer s.discard()
	if err := s.draft(path, write); err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	return s.publish()
}

// add writes to a pipe, a device or standard output, or makes the draft of a regular file.
func (s *set) add(file File) error {
	if IsStandardOutput(file.Path) {
		return fill(os.Stdout, file.Write)
	}
	if info, err := os.Stat(file.Path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		f, err := os.OpenFile(file.Path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(fill(f, file.Write), f.Close())
	}
	return s.draft(file.Path, func(f *os.File) error { return fill(f, file.Write) })
}

// bufferBytes is the memory of Write's buffer.
const bufferBytes = 128 << 10

// fill lets write fill a file through a buffer.
func fill(f *os.File, write func(w io.Writer) error) error {
	w := bufio.NewWriterSize(f, bufferBytes)
	if err := write(w); err != nil {
		return err
	}
	return w.Flush()
}

// IsStandardOutput reports whether a path stands for standard output: "-", and the
// names that the system has for it.
func IsStandardOutput(path string) bool {
	switch path {
	case "-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1":
		return true
	default:
		return false
	}
}

// IsStandardInput is IsStandardOutput for standard input.
func IsStandardInput(path string) bool {
	switch path {
	case "-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0":
		return true
	default:
		return false
	}
}

// Resolve returns the absolute path of the file that path leads to, with every link
// followed. Its last parts need not exist.
func Resolve(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	for range 40 { // as many links as Linux follows
		whole, err := filepath.EvalSymlinks(path)
		if !errors.Is(err, fs.ErrNotExist) {
			return whole, err
		}
		target, err := os.Readlink(path)
		if err != nil { // it does not exist, or its parent does not
			dir := filepath.Dir(path)
			if dir == path {
				return path, nil
			}
			dir, err = Resolve(dir)
			return filepath.Join(dir, filepath.Base(path)), err
		}
		if !filepath.IsAbs(target) { // a link to what is not there
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
	}
	return "", fmt.Errorf("%s: too many links", path)
}

// temporary is a part of the names of files that Write has not finished.
const temporary = ".tmp-"

// IsTemporary reports whether a file of that name may be one that Write has not
// finished.
func IsTemporary(name string) bool {
	return strings.HasPrefix(name, ".") && strings.Contains(name, temporary)
}

// unfinished are the temporary files of calls of Write that go on.
var unfinished struct {
	sync.Mutex
	names     map[string]bool
	abandoned bool
}

// errAbandoned is the error of writing after [Abandon].
var errAbandoned = errors.New("the program ends")

// begin makes a temporary file.
func begin(dir, name string) (*os.File, error) {
	unfinished.Lock()
	defer unfinished.Unlock()
	if unfinished.abandoned {
		return nil, errAbandoned
	}
	removeStrayOf(dir, name)
	f, err := os.CreateTemp(dir, "."+name+temporary+"*")
	for err == nil && !hold(f) {
		f.Close()
		f, err = os.CreateTemp(dir, "."+name+temporary+"*")
	}
	if err != nil {
		return nil, err
	}
	if unfinished.names == nil {
		unfinished.names = map[string]bool{}
	}
	unfinished.names[f.Name()] = true
	return f, nil
}

// end removes a temporary file.
func end(f *os.File) error {
	unfinished.Lock()
	defer unfinished.Unlock()
	if unfinished.abandoned {
		return errAbandoned
	}
	delete(unfinished.names, f.Name())
	return os.Remove(f.Name())
}

// Abandon removes the temporary files of all calls of Write that go on. They and
// later calls return an error. It is for a program that ends at once.
func Abandon() {
	unfinished.Lock()
	defer unfinished.Unlock()
	unfinished.abandoned = true
	for name := range unfinished.names {
		os.Remove(name)
	}
}

// RemoveStray removes from a folder the temporary files that killed processes left
// there. The folder need not exist. No process may write to it at the same time.
func RemoveStray(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if IsTemporary(e.Name()) && e.Type().IsRegular() {
			err = errors.Join(err, os.Remove(filepath.Join(dir, e.Name())))
		}
	}
	return err
}

// removeStrayOf removes the temporary files of a name that no process works with. They
// do no harm, so errors do not matter.
func removeStrayOf(dir, name string) {
	entries, _ := os.ReadDir(cmp.Or(dir, "."))
	for _, e := range entries {
		random, ours := strings.CutPrefix(e.Name(), "."+name+temporary)
		if ours && random != "" && strings.Trim(random, "0123456789") == "" && e.Type().IsRegular() {
			removeIfStray(filepath.Join(dir, e.Name()))
		}
	}
}

// syncFolder makes the rename survive a power cut. It ignores errors: not every system
// can sync a folder, and the file is whole either way.
func syncFolder(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}
