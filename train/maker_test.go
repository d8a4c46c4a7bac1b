package train

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/internal/machine"
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/train/cluster"
	"github.com/w2vcl/w2vcl/train/progress"
	"github.com/w2vcl/w2vcl/train/settings"
	"github.com/w2vcl/w2vcl/train/trainer"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// testText returns a text whose M has some 14 million contexts, 28 MB, and settings of it.
func testText(t *testing.T) (*corpus.Corpus, settings.Config) {
	t.Helper()
	var text bytes.Buffer
	for i := range 50000 {
		fmt.Fprintf(&text, "w%d w%d", i%700, i*i%1300)
		if text.WriteByte(' '); i%1000 == 999 {
			text.WriteByte('\n')
		}
	}
	c, err := corpus.OpenFrom(t.Context(), &text, "text", corpus.Options{}, corpus.Storage{})
	if err != nil {
		t.Fatal(err)
	}
	config := settings.Defaults(settings.ModeCL, "tuned", "", settings.ModelSkipGram)
	config.Window, config.DynamicWindow, config.Passes, config.Contexts, config.Sample = 5, false, 20, 1<<15, 0
	config.Tempering, config.Positives, config.Threads = 0, 1, 2
	return c, config
}

// limited leaves so many bytes.
func limited(bytes int64) memory.Guard {
	debug.FreeOSMemory() // what was garbage would be left, too
	return memory.Guard{Limit: machine.Resident() + bytes, Asked: true}
}

// TestOpenMatrix: M is the same in memory, in a file and on the disk, and a file in the cache is
// gone at once.
func TestOpenMatrix(t *testing.T) {
	text, config := testText(t)
	var log bytes.Buffer
	p := progress.New(&log)
	want, err := (&matrixMaker{config: &config, text: text}).open(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	defer want.Close()
	if want.Bounded() || want.Disk.Bytes != 0 || want.Resident != want.Bytes() || want.Bytes() < 25e6 {
		t.Fatalf("in memory: %+v of %d bytes", want, want.Bytes())
	}
	folder := t.TempDir()
	onDisk, err := (&matrixMaker{config: &config, text: text, guard: limited(15e6), save: true, cache: folder}).open(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	compare(t, onDisk, want)
	if entries, err := os.ReadDir(folder); err != nil || len(entries) > 0 {
		t.Errorf("the cache holds %v, %v", entries, err)
	}
	if err := onDisk.Close(); err != nil {
		t.Error(err)
	}
	config.Matrix = filepath.Join(folder, "m.matrix")
	for _, from := range []string{"on the disk of " + folder, "from " + config.Matrix} {
		log.Reset()
		made, err := (&matrixMaker{config: &config, text: text, guard: limited(15e6), save: true}).open(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		compare(t, made, want)
		if !strings.Contains(log.String(), from) {
			t.Errorf("%q does not say %q", log.String(), from)
		}
		if err := made.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestMatrixBeyondTheLimit: with a limit slightly below what training needs with M in memory, M is on the disk, and training
// begins.
func TestMatrixBeyondTheLimit(t *testing.T) {
	text, config := testText(t)
	_, bytes := wordcontext.EstimateBytes(text, config.MatrixOptions())
	for _, below := range []int64{bytes / 100, bytes / 12, -bytes / 100} {
		j := &job{config: config, mode: config.FindMode(), text: newText(text), folder: t.TempDir(), program: 256 << 20} // so that building does not bound
		j.executor = newExecutor(j)
		b, err := j.draw(nil)
		if err == nil {
			err = j.executor.plan(b)
		}
		if err != nil {
			t.Fatal(err)
		}
		j.matrix = bytes
		j.guard = memoryGuard{Guard: memory.Guard{Limit: j.sum() - below, Asked: true}}
		j.matrix = 0
		if err := j.makeMatrix(t.Context(), b, nil); err != nil {
			t.Fatal(err)
		}
		m := b.matrix
		if err := j.checkTraining(); err != nil || m.Bounded() != (below > 0) {
			t.Errorf("%d bytes below: on the disk %t, %v", below, m.Bounded(), err)
		}
		j.close()
	}
}

// TestMatrixOfRanks: an M that does not fit the memory of one rank is built on none.
func TestMatrixOfRanks(t *testing.T) {
	text, config := testText(t)
	err := cluster.Run(2, func(comm cluster.Comm) error {
		j := &job{config: config, text: newText(text), options: Options{Ranks: &cluster.Group{Comm: comm}}, account: &trainer.Account{}}
		j.executor = newExecutor(j)
		if comm.Rank() == 1 {
			j.guard.Guard = limited(15e6)
		}
		err := j.makeMatrix(t.Context(), nil, nil)
		if err == nil || !strings.Contains(err.Error(), "rank 1: on several ranks, M must fit into the memory") {
			t.Errorf("rank %d: %v", comm.Rank(), err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func compare(t *testing.T, got, want madeMatrix) {
	t.Helper()
	if !got.Bounded() || got.Resident >= want.Resident/2 {
		t.Errorf("%d bytes in memory, of %d", got.Resident, want.Resident)
	}
	size := int(want.Slots()[want.Rows()])
	a, b := make([]uint32, 70*size), make([]uint32, 70*size)
	for _, first := range []int{0, 9000} {
		got.Samples(1, first, 70, 0, want.Rows(), a)
		want.Samples(1, first, 70, 0, want.Rows(), b)
		if !slices.Equal(a, b) {
			t.Errorf("iterations from %d: other samples", first)
		}
	}
}

// TestGuess: a guessed M costs as much in training as M, and takes no more memory than is planned.
func TestGuess(t *testing.T) {
	text, config := testText(t)
	for _, positives := range []float64{1, 5} {
		if config.Contexts, config.Positives = 700, positives; positives > 1 {
			config.Tempering, config.DynamicWindow, config.Sample = 1, true, 1e-2
		}
		want, err := (&matrixMaker{config: &config, text: text}).open(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := (&matrixMaker{config: &config, text: text}).guess(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		near := func(what string, got, want float64) {
			if math.Abs(got/want-1) > 0.03 {
				t.Errorf("%v positives: %s is %v, not %v", positives, what, got, want)
			}
		}
		near("memory", float64(got.Resident), float64(want.Resident))
		near("the matrix", float64(got.Bytes()), float64(want.Bytes()))
		near("slots", float64(got.Expected), float64(want.Expected))
		if positives > 1 {
			near("samples", got.Spread().Mean, want.Spread().Mean)
			near("samples of a frequent word", got.Spread().Most, want.Spread().Most)
		}
		if got.Seconds <= 0 || got.Peak < got.Resident || got.Disk.Bytes != 0 {
			t.Errorf("%+v", got)
		}
		if err := errors.Join(want.Close(), got.Close()); err != nil {
			t.Error(err)
		}
	}
}

// TestMeasure: without a place to write, M of a part tells what the whole takes.
func TestMeasure(t *testing.T) {
	text, config := testText(t)
	made, err := (&matrixMaker{config: &config, text: text, guard: limited(15e6)}).open(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer made.Close()
	if made.Bounded() || made.Rows() != text.Vocabulary.Len() || made.Bytes() > 20e6 {
		t.Errorf("a part has %d rows in %d bytes", made.Rows(), made.Bytes())
	}
	if made.Disk.Bytes < 25e6 || made.Disk.Scans < 3 || made.Resident > 10e6 || made.Seconds <= 0 {
		t.Errorf("%+v", made)
	}
}

func TestErrors(t *testing.T) {
	text, config := testText(t)
	folder := t.TempDir()
	huge := config // 1.5 TB
	huge.Contexts, huge.Passes = 1<<30, 1<<20
	for name, tc := range map[string]struct {
		maker *matrixMaker
		is    error
		want  string
	}{
		"memory": {&matrixMaker{config: &config, text: text, guard: limited(100e3), save: true, cache: folder}, wordcontext.ErrMemory, "raise --max-memory, or lower --contexts (now 32768)"},
		"disk":   {&matrixMaker{config: &huge, text: text, guard: limited(500e9), save: true, cache: folder}, nil, "which do not fit the memory, and the disk of " + folder + " has"},
	} {
		_, err := tc.maker.open(t.Context(), nil)
		if err == nil || tc.is != nil && !errors.Is(err, tc.is) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (&matrixMaker{config: &config, text: text, guard: limited(15e6), save: true, cache: folder}).open(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) > 0 {
		t.Errorf("left %v, %v", entries, err)
	}
}
