package train

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/internal/machine"
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/train/progress"
	"github.com/w2vcl/w2vcl/train/settings"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// A matrixMaker finds or makes the M of a text: from its file, in memory, or, if it does not
// fit, on the disk. Start at its method open.
type matrixMaker struct {
	config   *settings.Config
	text     *corpus.Corpus
	guard    memory.Guard
	training int64        // memory that training takes beside M
	shared   SharedMatrix // of an M that fits the memory; nil: runs have none together

	// save lets a built M be written to config.Matrix. If that is not set, an M that does not fit the memory is
	// written to the folder cache; with "" it is refused.
	save       bool
	cache      string
	memoryOnly bool // M was found to fit the memory and is built there
}

// A SharedMatrix returns an M in memory that runs have together, and the seconds of its build. It
// builds M if no run did.
type SharedMatrix func(text *corpus.Corpus, o wordcontext.Options, build func() (*wordcontext.Matrix, error)) (m *wordcontext.Matrix, seconds float64, err error)

// A madeMatrix is an M, and what it took.
type madeMatrix struct {
	*wordcontext.Matrix
	Shared   bool                     // M is not to be closed
	Held     bool                     // M was there before, for another run
	Seconds  float64                  // to open or to build; expected, if M was not made
	Resident int64                    // memory in training, in bytes
	Expected int                      // slots of an iteration
	Disk     wordcontext.FileEstimate // of an M that does not fit the memory; else zero
	Peak     int64                    // memory of the process when M is built; 0: it was built
}

// open returns M, from its file if that fits, or built. Without save, M serves to measure with. Then the M of a long text is not
// made: M is guessed if it fits the memory, and else made of a part of the text.
func (k *matrixMaker) open(ctx context.Context, p *progress.Progress) (made madeMatrix, err error) {
	start := time.Now()
	made.Matrix, err = k.reuse(p)
	fits := k.memoryOnly || k.fits()
	switch {
	case made.Matrix != nil || err != nil:
	case fits && k.shared != nil:
		made.Shared, made.Held = true, true
		made.Matrix, made.Seconds, err = k.shared(k.text, k.config.MatrixOptions(), func() (*wordcontext.Matrix, error) {
			made.Held = false
			return k.build(ctx, p)
		})
	case fits && (k.save || k.text.Text().Tokens() <= measuredTokens):
		made.Matrix, err = k.build(ctx, p)
	case fits:
		return k.guess(ctx, p)
	case k.save:
		made.Matrix, err = k.buildFile(ctx, p)
	default:
		return k.measure(ctx, p)
	}
	if err != nil {
		return madeMatrix{}, err
	}
	if !made.Shared {
		made.Seconds = time.Since(start).Seconds()
	}
	made.Resident = made.Matrix.Resident(k.config.ThreadCount())
	made.Expected = int(made.Matrix.Slots()[made.Rows()])
	return made, nil
}

// measuredTokens is about how much of a text M is measured with. It is a variable for tests.
var measuredTokens = 4 << 20

// measure makes M of a part of the text. What the whole M would take follows from it.
func (k *matrixMaker) measure(ctx context.Context, p *progress.Progress) (madeMatrix, error) {
	disk, err := k.disk()
	if err != nil {
		return madeMatrix{}, err
	}
	peak := machine.Resident() + disk.Memory + k.reading()
	stage, options := k.stage(p)
	defer stage.Stop()
	all := float64(k.text.Vocabulary.Total())
	// A part that takes a small part of the memory: rows that are cut grow more slowly than the text.
	whole, _ := wordcontext.EstimateBytes(k.text, options)
	fraction := 0.25 * float64(k.building()) / float64(max(whole, 1))
	most := max(min(measuredTokens, int(fraction*all)), 2)
	// Two parts tell what the rows take, however short they are, and what the text takes.
	var m *wordcontext.Matrix
	var seconds [2]float64
	for i, tokens := range []int{most / 2, most} {
		if m != nil {
			_ = m.Close() // it was in memory only
		}
		start := time.Now()
		if m, err = k.checked(wordcontext.BuildPart(ctx, k.text, options, tokens)); err != nil {
			return madeMatrix{}, err
		}
		seconds[i] = time.Since(start).Seconds()
	}
	perToken := max(seconds[1]-seconds[0], seconds[1]/4) / float64(most-most/2)
	// A part was scanned twice and shuffled, which counts as a scan, too.
	scan := perToken * all / 3
	return madeMatrix{
		Matrix: m, Disk: disk, Seconds: seconds[1] + scan*float64(1+disk.Scans), Peak: peak,
		Expected: wordcontext.EstimateSlots(m.Rows(), options),
		Resident: wordcontext.EstimateResident(k.text, options, k.config.ThreadCount()),
	}, nil
}

// guess returns an M as large as that of the text. The seconds are those of the whole, from a part of the text that takes a
// moment. With a vocabulary beyond the processor's cache the whole takes up to twice as long.
func (k *matrixMaker) guess(ctx context.Context, p *progress.Progress) (made madeMatrix, err error) {
	tokens := measuredTokens / 4
	stage, options := k.stage(p)
	defer stage.Stop()
	building, matrix := wordcontext.EstimateBytes(k.text, options)
	made.Peak = machine.Resident() + building + k.reading()
	start := time.Now()
	part, err := k.checked(wordcontext.BuildPart(ctx, k.text, options, tokens))
	if err != nil {
		return madeMatrix{}, err
	}
	made.Seconds = time.Since(start).Seconds() / float64(tokens) * float64(k.text.Text().Tokens())
	_ = part.Close() // it was in memory only
	if made.Matrix, err = k.checked(wordcontext.Guess(k.text, options)); err != nil {
		return madeMatrix{}, err
	}
	made.Resident, made.Expected = matrix, int(made.Matrix.Slots()[made.Rows()])
	return made, nil
}

// reuse opens M's file if it was made of this text with these settings; the result is
// nil if there is none. Another file is an error; with --force the result is nil, too,
// and the file will be replaced.
func (k *matrixMaker) reuse(p *progress.Progress) (*wordcontext.Matrix, error) {
	path := k.config.Matrix
	if path == "" {
		return nil, nil
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	open := wordcontext.Open
	if err == nil && !k.has(info.Size()) {
		open = wordcontext.OpenBounded
	}
	m, err := open(path)
	if err == nil {
		if err = m.Matches(k.text, k.config.MatrixOptions()); err == nil {
			p.Notef("Matrix M: %s, from %s", m, path)
			return m, nil
		}
		err = errors.Join(err, m.Close())
	}
	if k.config.Force {
		return nil, nil
	}
	return nil, fmt.Errorf("--matrix %s cannot be used: %w; name another file, or build it anew with --force", path, err)
}

// has reports whether there is memory for M of so many bytes, with the text now and
// with training later.
func (k *matrixMaker) has(bytes int64) bool {
	if k.guard.Limit == 0 {
		return true
	}
	training := k.training + memory.Margin(bytes) - memory.Margin(0)
	return bytes+max(machine.Resident(), training) <= k.guard.Limit
}

// fits reports whether M is built in memory.
func (k *matrixMaker) fits() bool {
	if k.guard.Limit == 0 {
		return true
	}
	building, matrix := wordcontext.EstimateBytes(k.text, k.config.MatrixOptions())
	return building+k.reading()+machine.Resident() <= k.guard.Limit && k.has(matrix)
}

// stage begins the stage of building. The options report to it.
func (k *matrixMaker) stage(p *progress.Progress) (*progress.Stage, wordcontext.Options) {
	stage := p.Stage("building M", 0)
	options := k.config.MatrixOptions()
	options.Progress = func(done, total int64) {
		stage.SetTotal(total)
		stage.Update(done, nil)
	}
	return stage, options
}

// checked returns M, or an error if M is empty.
func (k *matrixMaker) checked(m *wordcontext.Matrix, err error) (*wordcontext.Matrix, error) {
	if err != nil {
		return nil, fmt.Errorf("cannot build the matrix M: %w", err)
	}
	if m.Stored() == 0 {
		return nil, errors.Join(errNoContext(k.config), m.Close())
	}
	return m, nil
}

func errNoContext(c *settings.Config) error {
	return fmt.Errorf("no context is left: --sample %g discards every word of the text; "+
		"raise it, or keep all words with --sample 0", c.Sample)
}

func (k *matrixMaker) build(ctx context.Context, p *progress.Progress) (*wordcontext.Matrix, error) {
	start := time.Now()
	stage, options := k.stage(p)
	defer stage.Stop()
	m, err := k.checked(wordcontext.Build(ctx, k.text, options))
	if err != nil {
		return nil, err
	}
	saved := ""
	if path := k.config.Matrix; path != "" && k.save {
		if err := m.Save(path); err != nil {
			return nil, errors.Join(fmt.Errorf("--matrix %s: %w", path, err), m.Close())
		}
		saved = ", written to " + path
	}
	stage.Done("Matrix M: %s, built in %s%s", m, terminal.Duration(time.Since(start).Seconds()), saved)
	return m, nil
}

// matrixCacheName is the name of M's file in the cache. A killed process's file is removed
// as other temporary files are.
const matrixCacheName = ".matrix.tmp-cache"

// buildFile makes M on the disk, in the memory that there is.
func (k *matrixMaker) buildFile(ctx context.Context, p *progress.Progress) (*wordcontext.Matrix, error) {
	start := time.Now()
	stage, options := k.stage(p)
	defer stage.Stop()
	disk, err := k.disk()
	if err != nil {
		return nil, err
	}
	path, kept := k.config.Matrix, "written to "+k.config.Matrix
	if path == "" {
		path, kept = filepath.Join(k.cache, matrixCacheName), "on the disk until training ends"
	}
	p.Notef("Matrix M: %s do not fit the memory, so M is built on the disk of %s, with %d scans of the text",
		terminal.Bytes(disk.Bytes), filepath.Dir(path), disk.Scans)
	m, err := k.checked(wordcontext.BuildFile(ctx, k.text, options, path, k.building()))
	if k.config.Matrix == "" {
		_ = os.Remove(path) // the mapped file stays until M is closed
	}
	if err != nil {
		return nil, err
	}
	stage.Done("Matrix M: %s, built in %s, %s", m, terminal.Duration(time.Since(start).Seconds()), kept)
	return m, nil
}

// building is the memory that building on the disk may take: a sixteenth of the limit is
// left for garbage.
func (k *matrixMaker) building() int64 {
	return max(k.guard.Limit-k.guard.Limit/16-machine.Resident()-k.reading(), 0)
}

// reading is the memory of those who read the text.
func (k *matrixMaker) reading() int64 { return k.text.ReaderBytes(k.config.ThreadCount()) }

// disk says what an M that does not fit the memory takes on the disk. It returns an
// error if memory or disk do not suffice.
func (k *matrixMaker) disk() (wordcontext.FileEstimate, error) {
	c := k.config
	advice := fmt.Sprintf("lower --contexts (now %d)", c.Contexts)
	if c.Graph == "" {
		advice += fmt.Sprintf(", or raise --min-count (now %d)", c.MinCount)
	}
	options := c.MatrixOptions()
	disk, err := wordcontext.EstimateFile(k.text, options, k.building())
	if errors.Is(err, wordcontext.ErrMemory) {
		return disk, fmt.Errorf("%w; raise --max-memory, or %s", err, advice)
	}
	if err != nil {
		return disk, fmt.Errorf("cannot build the matrix M: %w", err)
	}
	folder := k.cache
	switch {
	case c.Matrix != "":
		folder = filepath.Dir(c.Matrix)
	case folder == "":
		folder = filepath.Dir(filepath.Clean(c.Out))
	}
	if free, ok := machine.FreeSpace(folder); ok && free < disk.Bytes {
		return disk, fmt.Errorf("building M needs about %s, which do not fit the memory, "+
			"and the disk of %s has %s free: name a --matrix file on another disk, or %s",
			terminal.Bytes(disk.Bytes), folder, terminal.Bytes(free), advice)
	}
	return disk, nil
}

// BuildMatrix reads the text and writes M to c.Matrix, for `w2vcl matrix
// build`. A file that already holds the same M is left as it is; one that does
// not is replaced only if c.Force is set.
func BuildMatrix(ctx context.Context, c settings.Config, p *progress.Progress) error {
	if c.Matrix == "" {
		return terminal.Usagef("--matrix is missing: name the file to write M to")
	}
	guard, release, err := newMemoryGuard(&c, Options{})
	if err != nil {
		return err
	}
	defer release()
	t, err := readText(ctx, &c, Options{}, guard, p)
	if err != nil {
		return err
	}
	defer func() { _ = t.close() }() // it was only read
	c.FitText(t.vocabulary)
	if err := wordcontext.CheckSample(t.vocabulary, c.Sample); err != nil {
		return err
	}
	m, err := (&matrixMaker{config: &c, text: t.corpus, guard: guard.Guard, save: true}).open(ctx, p)
	if err != nil {
		return err
	}
	return m.Close()
}
