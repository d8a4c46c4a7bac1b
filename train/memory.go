package train

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/w2vcl/w2vcl/internal/machine"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/runfolder"
	"github.com/w2vcl/w2vcl/settings"
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
func newMemoryGuard(c *settings.Config) (g memoryGuard, release func(), err error) {
	total, available := machine.Memory()
	switch {
	case !c.MaxMemory.IsZero():
		g.asked = true
		if g.limit, err = c.MaxMemory.Bytes(total); err != nil {
			return g, nil, terminal.Usagef("--max-memory %s: %v", c.MaxMemory, err)
		}
	case available > 0:
		g.limit = available + machine.Resident()
	default:
		g.limit = total
	}
	if g.limit == 0 {
		return g, func() {}, nil
	}
	before := debug.SetMemoryLimit(-1)
	debug.SetMemoryLimit(min(g.limit, before))
	return g, func() { debug.SetMemoryLimit(before) }, nil
}

// A need is memory for one purpose.
type need struct {
	purpose string
	bytes   int64
}

// check returns an error if the needs together are more than the limit. advice
// says how to need less.
func (g memoryGuard) check(doing, advice string, needs ...need) error {
	sum := int64(0)
	var parts []string
	for _, n := range needs {
		sum += n.bytes
		if n.bytes > 0 {
			parts = append(parts, n.purpose+" "+terminal.Bytes(n.bytes))
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

// readingBytes estimates the peak of reading a text: measured, 1.4 to 1.8 times
// the text. An English word is some six bytes of text, two of the
// encoded text and four of its token; the rest is garbage.
func readingBytes(text int64) int64 { return text + text/2 }

// checkText is the first and coarsest check: only the sizes of the files are
// known. Compressed ones are counted as they are, so it is rather too low.
func (g memoryGuard) checkText(bytes int64) error {
	return g.check("reading the text", "use less text, or a machine with more memory",
		need{"text", readingBytes(bytes)}, need{"memory in use now", machine.Resident()})
}

// checkMatrix is asked before M is built; building takes so many bytes.
func (g memoryGuard) checkMatrix(c *settings.Config, building int64) error {
	return g.check("building M", fmt.Sprintf("lower --contexts (now %d) or --passes (now %d), or raise --min-count (now %d)",
		c.Contexts, c.Passes, c.MinCount),
		need{"M and its building", building}, need{"text and what else is in use now", machine.Resident()})
}

// programBytes is about what the process takes by itself.
const programBytes = 16 << 20

// checkTraining is asked before M is built, which is in vain if training cannot
// begin, and before the tables are allocated.
func (g memoryGuard) checkTraining(m runfolder.Memory, advice string) error {
	return g.check("training", advice,
		need{"text", m.Corpus}, need{"matrix M", m.Matrix}, need{"tables", m.Tables},
		need{"moments", m.Moments}, need{"work", m.Work}, need{"program", programBytes})
}

// An estimate is the memory that a run needs, in bytes, as far as it is known.
type estimate struct {
	trainer int64 // tables, moments and work
	moments int64 // of the optimizer
	matrix  int64
	garbage int64 // that training may leave lying about
}

// memory splits the estimate into its parts.
func (j *job) memory() runfolder.Memory {
	table := int64(j.text.vocabulary.Len()) * int64(j.config.Dim) * 4
	m := runfolder.Memory{
		Corpus: j.text.vocabularyBytes(), Matrix: j.estimate.matrix, Tables: 2 * table, Moments: j.estimate.moments,
	}
	j.gpu.estimate(&m)
	if j.mode.ReadsText() {
		m.Corpus += 4*int64(len(j.text.corpus.Tokens)) + 8*int64(len(j.text.corpus.Sentences))
	}
	m.Work = max(j.estimate.trainer-m.Tables-m.Moments, 0) + j.exportBytes()
	m.Total = m.Corpus + m.Matrix + m.Tables + m.Moments + m.Work
	return m
}

// exportBytes estimates the memory of writing the vectors: their sum, and an index
// of the words for each of the two files.
func (j *job) exportBytes() int64 {
	bytes := 2 * j.text.indexBytes()
	if j.config.ContextWeight != 0 {
		bytes += int64(j.text.vocabulary.Len()) * int64(j.config.Dim) * 4
	}
	return bytes
}

// memoryWithPeak is asked when the trainer has been measured: all that training
// touches is resident, and the export and some garbage are still to come. While
// one load of garbage is collected, another may be made.
func (j *job) memoryWithPeak() runfolder.Memory {
	m := j.memory()
	m.Peak = max(machine.PeakRSS(), machine.Resident()+j.exportBytes()+2*j.estimate.garbage, m.Total)
	return m
}

// lessMemory says which settings lower the need of memory.
func (j *job) lessMemory() string {
	c := &j.config
	var ways []string
	if j.estimate.matrix > 0 {
		ways = append(ways, fmt.Sprintf("lower --contexts (now %d)", c.Contexts))
	}
	ways = append(ways, fmt.Sprintf("lower --dim (now %d)", c.Dim), fmt.Sprintf("raise --min-count (now %d)", c.MinCount))
	switch c.Subword {
	case settings.SubwordCNN:
		ways = append(ways, fmt.Sprintf("lower --filters (now %d)", c.Filters))
	case settings.SubwordNGram:
		ways = append(ways, fmt.Sprintf("lower --max-ngram (now %d) or --buckets (now %d)", c.MaxGram, c.Buckets))
	}
	if c.Optimizer == string(optim.Adam) {
		ways = append(ways, "or take --optimizer "+string(optim.AdamRow)+" or "+string(optim.SGD))
	}
	return strings.Join(ways, ", ")
}

// settleHeap gives the garbage of the preparation back to the system, and bounds
// the garbage that training leaves lying about, which it returns in bytes: Go would let it grow to the
// size of the tables, which are most of what is in use. There is little of it,
// and looking for it is cheap, because tables hold no pointers. The garbage may
// be a twentieth of the memory in use, but collecting need not be more frequent
// than every 2 MB.
func settleHeap() (garbage int64, release func()) {
	debug.FreeOSMemory()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	inUse := max(int64(stats.HeapAlloc), 1)
	garbage = max(2<<20, inUse/20)
	before := debug.SetGCPercent(int(min(100, max(1, 100*garbage/inUse))))
	return garbage, func() { debug.SetGCPercent(before) }
}
