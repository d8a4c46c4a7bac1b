package runfolder

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/internal/testfiles"
	"github.com/w2vcl/w2vcl/train/settings"
	"github.com/w2vcl/w2vcl/train/trainer"
)

// makeRun makes a run of 8 words: whole, or in progress with a checkpoint. It returns
// its folder.
func makeRun(t testing.TB, whole bool) (dir string) {
	t.Helper()
	must := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	out := filepath.Join(t.TempDir(), "run")
	f, err := Create(out, false)
	must(err)
	defer f.Close()
	writeSettings(t, f, "word2vec")
	words := []string{"the", "of", "and", "to", "in", "a", "is", "was"}
	var lines strings.Builder
	values := make([]float32, 16)
	for i, word := range words {
		lines.WriteString(word + "\t" + string(rune('9'-i)) + "\n")
		values[2*i], values[2*i+1] = float32(i)+0.25, -float32(i)
	}
	must(f.Write(VocabularyFile, func(w io.Writer) error {
		_, err := io.WriteString(w, lines.String())
		return err
	}))
	m, err := f.OpenMetrics(nil)
	must(err)
	defer m.Close()
	r := NewRecorder(m, 2000, Position{}, done)
	for unit := range 500 {
		r.Add(trainer.Report{Pairs: 10, Loss: 5, Words: 3}, 0.025, float64(unit)/8)
		if r.Due() {
			must(r.Flush(r.Seconds))
		}
	}
	must(m.Flush())
	c := example()
	c.Units, c.Position, c.Settings = 2000, r.Position, map[string]string{"mode": "word2vec", "dim": "2"}
	c.Metrics, c.MetricsSum = m.Size()
	must(c.Write(f.Path(CheckpointFile), []trainer.Tensor{{Name: "words", Data: values}, {Name: "contexts", Data: values}}))
	if !whole {
		f.done = true // keep it
		return f.Dir
	}
	table := embedding.Rows{Words: words, Dim: 2, Vector: func(i int, _ []float32) []float32 { return values[2*i:][:2] }}
	for _, name := range []string{VectorsFile, ContextFile} {
		must(f.Write(name, func(w io.Writer) error { return table.WriteBinary(w, 1) }))
	}
	must(f.Finish(Summary{Mode: "word2vec", Dim: 2, Interrupted: true, Out: out}))
	return out
}

// A checksum is that of the file, of short and of long writes.
func TestSummed(t *testing.T) {
	r := rand.New(rand.NewPCG(rand.Uint64(), 0))
	var all bytes.Buffer
	s := &summed{&all, xxhash.New()}
	for range 50 {
		p := make([]byte, r.IntN(200_000))
		for i := range p {
			p[i] = byte(r.Uint32())
		}
		if n, err := s.Write(p); n != len(p) || err != nil {
			t.Fatal(n, err)
		}
		clear(p) // what is written is no longer needed
	}
	if got, want := s.hash.Sum64(), xxhash.Sum64(all.Bytes()); got != want {
		t.Errorf("%x, want %x", got, want)
	}
	reading, writing := io.Pipe()
	reading.Close()
	s.w = writing
	for _, n := range []int{1, 100_000} {
		if _, err := s.Write(make([]byte, n)); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

// writeSettings writes the settings of a run of that mode.
func writeSettings(t testing.TB, f *Folder, mode string) {
	t.Helper()
	c, err := settings.Resolve("", map[string]string{"mode": mode, "dim": "2", "corpus": "text.txt", "threads": "3"})
	if err != nil {
		t.Fatal(err)
	}
	text, err := c.TOML()
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Write(ConfigFile, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// A runContent is all that readers take from a run folder.
type runContent struct {
	Config     settings.Config
	Summary    Summary
	Metrics    []Metric
	Words      []string
	Counts     []uint64
	Vectors    []float32
	Tables     trainer.Tables
	Checkpoint Checkpoint
}

// readRun reads a folder as the readers of runs do, and as resume does. Tables take
// most of the time.
func readRun(ctx context.Context, dir string, tables bool) (c runContent, err error) {
	r, err := Open(dir)
	if err != nil {
		return c, err
	}
	if c.Config, err = r.Config(); err != nil {
		return c, err
	}
	if c.Summary, _, err = r.Summary(); err != nil {
		return c, err
	}
	if c.Metrics, err = r.Metrics(); err != nil {
		return c, err
	}
	v, err := r.Vocabulary(ctx)
	if err != nil {
		return c, err
	}
	c.Words, c.Counts = v.Words, v.Counts
	if tables {
		vectors, err := r.Vectors(ctx)
		if err != nil {
			return c, err
		}
		c.Vectors = vectors.Vectors
		if c.Tables, err = r.Tables(ctx); err != nil {
			return c, err
		}
	}
	f, err := Reopen(dir)
	if err != nil {
		return c, err
	}
	defer f.Close()
	if _, _, err := f.Summary(); err != nil {
		return c, err
	}
	s, err := OpenCheckpoint(f.Path(CheckpointFile))
	if err != nil {
		return c, err
	}
	defer s.Close()
	c.Checkpoint = s.Checkpoint
	return c, nil
}

// TestRunDamaged: a run folder with flipped bits in any of its files is refused, also
// one in progress. Formerly only the checkpoint was.
func TestRunDamaged(t *testing.T) {
	for name, whole := range map[string]bool{"whole": true, "in progress": false} {
		dir := makeRun(t, whole)
		files, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		tried := []string{}
		for _, file := range append(files, nil) {
			base := CheckpointFile
			if file != nil {
				base = file.Name()
			}
			if base == checkpointFolder {
				continue
			}
			tried = append(tried, base)
			t.Run(name+"/"+filepath.Base(base), func(t *testing.T) {
				path := filepath.Join(dir, base)
				written := mustRead(t, path)
				read := 0
				refused := testfiles.Copies(t, written, func(file []byte) (runContent, error) {
					if err := os.WriteFile(path, file, 0o600); err != nil {
						t.Fatal(err)
					}
					read++
					return readRun(t.Context(), dir, !slices.Contains([]string{ConfigFile, MetricsFile, SummaryFile}, base))
				})
				if refused < read/2 {
					t.Errorf("%d of %d copies were refused", refused, read)
				}
				if err := os.WriteFile(path, written, 0o600); err != nil {
					t.Fatal(err)
				}
			})
		}
		want := 5
		if whole {
			want = 8
		}
		if len(tried) != want {
			t.Errorf("%s: the files are %q", name, tried)
		}
	}
}

// TestChangedFiles: an error of a changed file says what to do, and that helps.
func TestChangedFiles(t *testing.T) {
	dir := makeRun(t, true)
	path, list := filepath.Join(dir, ConfigFile), filepath.Join(dir, ChecksumsFile)
	text := bytes.Replace(mustRead(t, path), []byte("threads = 3"), []byte("threads = 1"), 1)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := readRun(t.Context(), dir, true)
	if err == nil || !strings.HasPrefix(err.Error(), path+" is not what w2vcl wrote") || !strings.Contains(err.Error(), "remove its line from "+list) {
		t.Fatalf("changed settings: %v", err)
	}
	if _, err := Reopen(dir); err == nil || !strings.Contains(err.Error(), "is not what w2vcl wrote") {
		t.Errorf("resume: %v", err)
	}
	lines := slices.DeleteFunc(strings.SplitAfter(string(mustRead(t, list)), "\n"), func(line string) bool { return strings.Contains(line, ConfigFile) })
	if err := os.WriteFile(list, []byte(strings.Join(lines, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err := readRun(t.Context(), dir, true); err != nil || c.Config.Threads != 1 {
		t.Errorf("without the line: %d threads, %v", c.Config.Threads, err)
	}
	for _, text := range []string{"", "\n", lines[0] + lines[0], strings.TrimSuffix(lines[0], "\n"), lines[0][1:], strings.ToUpper(lines[0]), strings.Replace(lines[0], "  ", "  x", 1)} {
		if err := os.WriteFile(list, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readRun(t.Context(), dir, true); err == nil || !strings.HasPrefix(err.Error(), list+": ") || !strings.Contains(err.Error(), "remove the file") {
			t.Errorf("list %q: %v", text, err)
		}
	}
	if err := os.Remove(list); err != nil {
		t.Fatal(err)
	}
	if _, err := readRun(t.Context(), dir, true); err != nil {
		t.Errorf("without a list, as in older runs: %v", err)
	}
}

// TestLostMetrics: metrics that were removed cost no run, and changed ones only
// themselves.
func TestLostMetrics(t *testing.T) {
	dir := makeRun(t, false)
	path := filepath.Join(dir, MetricsFile)
	lines := mustRead(t, path)
	lines[20]++
	if err := os.WriteFile(path, append(lines, "{}\n"...), 0o600); err != nil { // a line of later units
		t.Fatal(err)
	}
	if _, err := Reopen(dir); err == nil || !strings.Contains(err.Error(), "remove the file, and the run goes on without these lines") {
		t.Errorf("changed: %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	f, err := Reopen(dir)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
}

// TestChecksumsFollow: whatever a run writes again, at no moment does a file stand beside
// the checksum of another one.
func TestChecksumsFollow(t *testing.T) {
	out := makeRun(t, true)
	f, err := Reopen(out)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sound := func(when string) {
		t.Helper()
		if err := checkAll(f.Dir, checkedFiles...); err != nil {
			t.Errorf("%s: %v", when, err)
		}
	}
	sound("interrupted")
	if err := f.Begin(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{ConfigFile, VocabularyFile, VectorsFile, ContextFile, PositionsFile} {
		broken := errors.New("broken")
		if err := f.Write(name, func(w io.Writer) error {
			sound("while " + name + " is written")
			return broken
		}); !errors.Is(err, broken) {
			t.Fatal(err)
		}
		sound("when " + name + " could not be written")
		if err := f.Write(name, func(w io.Writer) error {
			_, err := io.WriteString(w, "new "+name)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		sound("after " + name)
	}
	s, err := OpenCheckpoint(f.Path(CheckpointFile))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	m, err := f.OpenMetrics(s)
	if err != nil {
		t.Fatal(err)
	}
	sound("before the metrics")
	if _, err := m.Write([]byte("{\"unit\":1000}\n")); err != nil {
		t.Fatal(err)
	}
	sound("after the metrics")
	if err := f.Finish(Summary{}); err != nil {
		t.Fatal(err)
	}
	sound("in the end")
	sums, err := readChecksums(out)
	if err != nil || len(sums) != len(checkedFiles) {
		t.Errorf("listed are %v, %v", sums, err)
	}
	for name, sum := range sums {
		if got, err := sumOf(t.Context(), filepath.Join(out, name)); err != nil || got != sum {
			t.Errorf("%s has %s, listed is %s (%v)", name, corpus.Hex(got), corpus.Hex(sum), err)
		}
	}
	if _, err := os.Stat(out + ".partial"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("left %s.partial (%v)", out, err)
	}
}

// FuzzChecksums reads any list. One that is accepted is written as it was.
func FuzzChecksums(f *testing.F) {
	f.Add([]byte("0123456789abcdef  config.toml\nffffffffffffffff  metrics.jsonl\n"))
	f.Add([]byte("0123456789ABCDEF  config.toml\n\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		sums, err := decodeChecksums(data)
		if err != nil {
			return
		}
		dir := t.TempDir()
		c := &checksums{sums: sums}
		if err := c.save(dir); err != nil {
			t.Fatal(err)
		}
		lines := slices.Sorted(strings.Lines(string(data)))
		written := slices.Sorted(strings.Lines(string(mustRead(t, filepath.Join(dir, ChecksumsFile)))))
		again, err := readChecksums(dir)
		if err != nil || !reflect.DeepEqual(again, sums) || !slices.Equal(lines, written) {
			t.Errorf("%q became %q, %v", lines, written, err)
		}
	})
}
