package runfolder

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/cespare/xxhash/v2"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/internal/atomicfile"
	"github.com/w2vcl/w2vcl/internal/memory"
)

// ChecksumsFile lists the XXH64 of files that have no checksum of their own, as the
// program xxhsum writes and checks it. A file without a line is read unchecked.
//
// A file never stands beside another one's checksum, also after a kill: before a file
// changes, the list is written without it, and after that with it.
const ChecksumsFile = "checksums.txt"

var checkedFiles = []string{ConfigFile, VocabularyFile, VectorsFile, ContextFile, PositionsFile, MetricsFile, SummaryFile}

// checksums are those of a folder in the making.
type checksums struct {
	mutex sync.Mutex
	sums  map[string]uint64 // of the files as they are now
	saved map[string]uint64 // that the list on the disk has
}

func openChecksums(dir string) (*checksums, error) {
	saved, err := readChecksums(dir)
	if err != nil {
		return nil, err
	}
	sums := maps.Clone(saved)
	if sums == nil {
		sums = map[string]uint64{}
	}
	return &checksums{sums: sums, saved: saved}, nil
}

// forget is called before a file changes.
func (c *checksums) forget(dir, name string) error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	delete(c.sums, name)
	if _, listed := c.saved[name]; !listed {
		return nil
	}
	return c.write(dir)
}

func (c *checksums) set(name string, sum uint64) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.sums[name] = sum
}

// save writes the list if it changed.
func (c *checksums) save(dir string) error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if maps.Equal(c.sums, c.saved) {
		return nil
	}
	return c.write(dir)
}

func (c *checksums) write(dir string) error {
	path := filepath.Join(dir, ChecksumsFile)
	if len(c.sums) == 0 {
		c.saved = nil
		return removeFile(path)
	}
	err := atomicfile.Write(path, func(w io.Writer) error {
		for _, name := range slices.Sorted(maps.Keys(c.sums)) {
			if _, err := fmt.Fprintf(w, "%s  %s\n", corpus.Hex(c.sums[name]), name); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		c.saved = maps.Clone(c.sums)
	}
	return err
}

// readChecksums reads the list of a folder; nil if there is none.
func readChecksums(dir string) (map[string]uint64, error) {
	path := filepath.Join(dir, ChecksumsFile)
	data, err := readSmall(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read checksums: %w", err)
	}
	sums, err := decodeChecksums(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: put a good copy back, or remove the file, and the files of the run are read unchecked", path, err)
	}
	return sums, nil
}

// decodeChecksums takes nothing that w2vcl does not write, so that a change anywhere is
// noticed; but lines may be missing.
func decodeChecksums(data []byte) (map[string]uint64, error) {
	if len(data) == 0 {
		return nil, errors.New("it is empty")
	}
	sums := map[string]uint64{}
	number := 0
	for line := range strings.Lines(string(data)) {
		number++
		hash, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		sum, err := strconv.ParseUint(hash, 16, 64)
		_, twice := sums[name]
		if err != nil || corpus.Hex(sum) != hash || !slices.Contains(checkedFiles, name) || twice || !strings.HasSuffix(line, "\n") {
			return nil, fmt.Errorf("line %d is none that w2vcl writes", number)
		}
		sums[name] = sum
	}
	return sums, nil
}

// check returns an error if a file of a run folder is not what was written, by the list
// of the folder. Everything that reads such a file calls it first. A process that trains
// may replace list and file meanwhile.
func check(ctx context.Context, dir, name string) error {
	sums, err := readChecksums(dir)
	for {
		if err != nil {
			return err
		}
		want, listed := sums[name]
		if !listed {
			return nil
		}
		got, err := sumOf(ctx, filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			return nil // the reader says what that means
		}
		if err != nil || got == want {
			return err
		}
		if sums, err = readChecksums(dir); err != nil {
			return err
		}
		if again, listed := sums[name]; listed && again == want {
			return changed(dir, name, got, want)
		}
	}
}

// changed is the error of a file that is not what was written.
func changed(dir, name string, got, want uint64) error {
	return fmt.Errorf("%s is not what w2vcl wrote (XXH64 %s, not %s): put a good copy back; if you changed it, remove its line from %s, and it is read unchecked",
		filepath.Join(dir, name), corpus.Hex(got), corpus.Hex(want), filepath.Join(dir, ChecksumsFile))
}

// sumOf returns the XXH64 of a file.
func sumOf(ctx context.Context, path string) (uint64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	if !info.Mode().IsRegular() {
		return 0, fmt.Errorf("%s is no regular file", path)
	}
	hash := xxhash.New()
	_, err = io.CopyBuffer(struct{ io.Writer }{hash}, memory.NewReader(ctx, f), make([]byte, 64<<10))
	return hash.Sum64(), err
}

// checkAll is check of small files, and of the lines of metrics that belong to the
// checkpoint: a run in progress has no checksum of the whole file.
func checkAll(dir string, names ...string) error {
	for _, name := range names {
		err := check(context.Background(), dir, name)
		if err == nil && name == MetricsFile {
			err = checkSaved(dir)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkSaved returns an error if the lines of metrics that belong to the last checkpoint
// are not what was written.
func checkSaved(dir string) error {
	s, err := OpenCheckpoint(filepath.Join(dir, CheckpointFile))
	if err != nil || s == nil {
		return nil // who needs the checkpoint says what is wrong with it
	}
	defer s.Close()
	path := filepath.Join(dir, MetricsFile)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot read metrics: %w", err)
	}
	defer f.Close()
	hash := xxhash.New()
	switch n, err := io.Copy(hash, io.LimitReader(f, s.Metrics)); {
	case err != nil:
		return fmt.Errorf("cannot read metrics: %w", err)
	case n < s.Metrics || s.MetricsSum == "" || corpus.Hex(hash.Sum64()) == s.MetricsSum: // lost lines are no reason to lose a run
		return nil
	}
	return fmt.Errorf("the first %d bytes of %s are not what w2vcl wrote (XXH64 %s, not %s): put a good copy back, or remove the file, and the run goes on without these lines",
		s.Metrics, path, corpus.Hex(hash.Sum64()), s.MetricsSum)
}

// Write writes a file of the run, which gets its line in the list of checksums when
// training begins, or with Finish.
func (f *Folder) Write(name string, write func(w io.Writer) error) error {
	return f.WriteAll(atomicfile.File{Path: name, Write: write})
}

// WriteAll is Write of files that appear together. Their paths are names. Only those in checkedFiles get a line.
func (f *Folder) WriteAll(files ...atomicfile.File) error {
	hashes, all := make([]*xxhash.Digest, len(files)), make([]atomicfile.File, len(files))
	for i, file := range files {
		if err := f.sums.forget(f.Dir, file.Path); err != nil {
			return err
		}
		hash, write := xxhash.New(), file.Write
		if slices.Contains(checkedFiles, file.Path) {
			hashes[i], write = hash, func(w io.Writer) error { return file.Write(&summed{w, hash}) }
		}
		all[i] = atomicfile.File{Path: f.Path(file.Path), Write: write}
	}
	err := atomicfile.WriteAtOnce(all...)
	for i, hash := range hashes {
		if err == nil && hash != nil {
			f.sums.set(files[i].Path, hash.Sum64())
		}
	}
	return err
}

// summed adds what is written to a hash, too.
type summed struct {
	w    io.Writer
	hash *xxhash.Digest
}

// Write adds much while it is written.
func (s *summed) Write(p []byte) (n int, err error) {
	const much = 64 << 10
	if len(p) < much {
		_, _ = s.hash.Write(p) // it has no errors
		return s.w.Write(p)
	}
	var working sync.WaitGroup
	working.Go(func() { _, _ = s.hash.Write(p) })
	n, err = s.w.Write(p)
	working.Wait()
	return n, err
}

// writeLast writes the list of checksums and then the summary, which makes the folder
// whole.
func (f *Folder) writeLast(s Summary) error {
	// One of an earlier part of the run says nothing of this one.
	if err := removeFile(f.Path(SummaryFile)); err != nil {
		return fmt.Errorf("cannot replace the summary: %w", err)
	}
	var text bytes.Buffer
	if err := s.writeJSON(&text); err != nil {
		return err
	}
	f.sums.set(SummaryFile, xxhash.Sum64(text.Bytes()))
	if err := f.sums.save(f.Dir); err != nil {
		return err
	}
	return atomicfile.Write(f.Path(SummaryFile), func(w io.Writer) error {
		_, err := w.Write(text.Bytes())
		return err
	})
}
