package train

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/w2vcl/w2vcl/internal/machine"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// A memoryGuard refuses work that would need more memory than there is, before
// anything is allocated for it. A system that runs out of memory kills
// processes, and not always the one that is to blame.
type memoryGuard struct {
	limit int64 // bytes that the process may have resident; 0: unknown, nothing is refused
	asked bool  // --max-memory says so
}

// newMemoryGuard takes the limit from the settings or the machine. It also
// makes Go's collector work harder near the limit, until release is called.
func newMemoryGuard(c *Config) (g memoryGuard, release func() error, err error) {
	total, available := machine.Memory()
	switch {
	case c.MaxMemory != "":
		g.asked = true
		if g.limit, err = parseSize(c.MaxMemory, total); err != nil {
			return g, nil, terminal.Usagef("--max-memory %s: %v", c.MaxMemory, err)
		}
	case available > 0:
		g.limit = available + machine.Resident()
	default:
		g.limit = total
	}
	if g.limit == 0 {
		return g, func() error { return nil }, nil
	}
	before := debug.SetMemoryLimit(-1)
	debug.SetMemoryLimit(min(g.limit, before))
	return g, func() error { debug.SetMemoryLimit(before); return nil }, nil
}

// A need is memory for one purpose.
type need struct {
	what  string
	bytes int64
}

// check returns an error if the needs together are more than the limit. advice
// says how to need less.
func (g memoryGuard) check(doing, advice string, needs ...need) error {
	sum := int64(0)
	var parts []string
	for _, n := range needs {
		sum += n.bytes
		if n.bytes > 0 {
			parts = append(parts, n.what+" "+terminal.Bytes(n.bytes))
		}
	}
	if g.limit == 0 || sum <= g.limit {
		return nil
	}
	whose := "this machine has " + terminal.Bytes(g.limit) + " available (--max-memory sets another limit)"
	if g.asked {
		whose = "--max-memory allows " + terminal.Bytes(g.limit)
	}
	return fmt.Errorf("%s needs about %s of memory (%s), but %s: %s", doing, terminal.Bytes(sum), strings.Join(parts, ", "), whose, advice)
}

// readingBytes is about what reading a text takes at its peak: measured, 1.4 to
// 1.8 times the text. An English word is some six bytes of text, two of the
// encoded text and four of its token; the rest is garbage.
func readingBytes(text int64) int64 { return text + text/2 }

// textBytes adds up the sizes of the files at path, hidden ones left out as
// reading does. What cannot be told is 0: reading will say what is wrong.
func textBytes(path string) int64 {
	total := int64(0)
	_ = filepath.WalkDir(path, func(at string, _ fs.DirEntry, _ error) error {
		hidden := at != path && strings.HasPrefix(filepath.Base(at), ".")
		info, err := os.Stat(at)
		switch {
		case hidden && err == nil && info.IsDir():
			return filepath.SkipDir
		case !hidden && err == nil && info.Mode().IsRegular():
			total += info.Size()
		}
		return nil
	})
	return total
}

// checkText is the first and coarsest check: the files are known, not yet what
// is in them. Compressed ones are counted as they are, so it is rather too low.
func (g memoryGuard) checkText(bytes int64) error {
	return g.check("reading the text", "use less text, or a machine with more memory",
		need{"text", readingBytes(bytes)}, need{"what is in use now", machine.Resident()})
}

// checkMatrix is asked before M is built.
func (j *job) checkMatrix(options wordcontext.Options) error {
	return j.guard.check("building M", fmt.Sprintf("lower --contexts (now %d) or --passes (now %d), or raise --min-count (now %d)",
		j.config.Contexts, j.config.Passes, j.config.MinCount),
		need{"M and what building it takes", wordcontext.EstimateBytes(j.corpus, options)},
		need{"text and what else is in use now", machine.Resident()})
}

// checkTraining is asked before M is built, which is in vain if training cannot
// begin, and before the tables are allocated.
func (j *job) checkTraining() error {
	m := j.memory()
	return j.guard.check("training", j.lessMemory(),
		need{"text", m.Corpus}, need{"matrix M", m.Matrix}, need{"tables", m.Tables},
		need{"moments", m.Moments}, need{"work", m.Work}, need{"program", programBytes})
}

// programBytes is about what the process takes by itself.
const programBytes = 16 << 20

// lessMemory says what can be changed to need less.
func (j *job) lessMemory() string {
	c := &j.config
	var ways []string
	if j.matrixBytes > 0 {
		ways = append(ways, fmt.Sprintf("lower --contexts (now %d)", c.Contexts))
	}
	ways = append(ways, fmt.Sprintf("lower --dim (now %d)", c.Dim), fmt.Sprintf("raise --min-count (now %d)", c.MinCount))
	switch c.Subword {
	case SubwordCNN:
		ways = append(ways, fmt.Sprintf("lower --filters (now %d)", c.Filters))
	case SubwordNGram:
		ways = append(ways, fmt.Sprintf("lower --max-ngram (now %d) or --buckets (now %d)", c.MaxGram, c.Buckets))
	}
	if c.Optimizer == OptimizerAdam {
		ways = append(ways, "or take --optimizer "+OptimizerAdamRow+" or "+OptimizerSGD)
	}
	return strings.Join(ways, ", ")
}

// settleHeap gives back to the system what preparing left behind, and bounds
// the garbage that training leaves lying about: Go would let it grow to the
// size of the tables, which are most of what is in use. There is little of it,
// and looking for it is cheap, because tables hold no pointers. The garbage may
// be a twentieth of the memory in use, but collecting need not be more frequent
// than every 2 MB.
func (j *job) settleHeap() (release func() error) {
	debug.FreeOSMemory()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	inUse := max(int64(stats.HeapAlloc), 1)
	j.garbageBytes = max(2<<20, inUse/20)
	before := debug.SetGCPercent(int(min(100, max(1, 100*j.garbageBytes/inUse))))
	return func() error { debug.SetGCPercent(before); return nil }
}

// sizeUnits are the units of --max-memory. Like the figures w2vcl prints they
// are decimal unless they say "i".
var sizeUnits = []struct {
	suffix string
	bytes  float64
}{
	{"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30}, {"tib", 1 << 40},
	{"kb", 1e3}, {"mb", 1e6}, {"gb", 1e9}, {"tb", 1e12},
	{"k", 1e3}, {"m", 1e6}, {"g", 1e9}, {"t", 1e12}, {"b", 1},
}

// parseSize reads an amount of memory: 4GB, 1.5GiB, or a part of the whole,
// 75%. Nothing is 0.
func parseSize(text string, whole int64) (int64, error) {
	if text == "" {
		return 0, nil
	}
	number, factor := strings.ToLower(text), 0.0
	if rest, ok := strings.CutSuffix(number, "%"); ok {
		if whole == 0 {
			return 0, errors.New("how much memory this machine has cannot be told: give an amount such as 4GB")
		}
		number, factor = rest, float64(whole)/100
	}
	for _, u := range sizeUnits {
		if rest, ok := strings.CutSuffix(number, u.suffix); ok && factor == 0 {
			number, factor = rest, u.bytes
		}
	}
	value, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || factor == 0 || !(value > 0) || math.IsInf(value, 0) {
		return 0, errors.New("give an amount such as 4GB or 500MB, or a part of the machine's memory such as 75%")
	}
	return int64(min(value*factor, math.MaxInt64/2)), nil
}
