package train

import (
	"fmt"
	"strings"

	"github.com/w2vcl/w2vcl/internal/machine"
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/runfolder"
	"github.com/w2vcl/w2vcl/settings"
	"github.com/w2vcl/w2vcl/train/reading"
)

// A memoryGuard refuses work of a run before anything is allocated for it.
type memoryGuard struct{ memory.Guard }

// newMemoryGuard takes the limit from the settings or the machine. It holds for
// Go's collector, too, until release is called.
func newMemoryGuard(c *settings.Config) (g memoryGuard, release func(), err error) {
	limit := int64(0)
	if !c.MaxMemory.IsZero() {
		total, _ := machine.Memory()
		if limit, err = c.MaxMemory.Bytes(total); err != nil {
			return g, nil, terminal.Usagef("--max-memory %s: %v", c.MaxMemory, err)
		}
	}
	g.Guard, release = memory.NewGuard(limit)
	return g, release, nil
}

// checkText is the first and coarsest check: only the sizes of the files are known.
func (g memoryGuard) checkText(bytes int64) error {
	return g.Check("reading the text", "use less text, or a machine with more memory",
		memory.Need{Purpose: "text", Bytes: reading.Need(bytes, g.Limit)}, memory.Need{Purpose: "memory in use now", Bytes: machine.Resident()})
}

// programBytes is about what the process takes by itself.
const programBytes = 16 << 20

// checkTraining is asked before M is built, which is in vain if training cannot
// begin, and before the tables are allocated.
func (g memoryGuard) checkTraining(m runfolder.Memory, advice string) error {
	return g.Check("training", advice,
		memory.Need{Purpose: "text", Bytes: m.Corpus}, memory.Need{Purpose: "matrix M", Bytes: m.Matrix}, memory.Need{Purpose: "tables", Bytes: m.Tables},
		memory.Need{Purpose: "moments", Bytes: m.Moments}, memory.Need{Purpose: "work", Bytes: m.Work}, memory.Need{Purpose: "program", Bytes: programBytes})
}

// An estimate is the memory that a run needs, in bytes, as far as it is known.
type estimate struct {
	trainer int64 // tables, moments and work
	moments int64 // of the optimizer
	matrix  int64
	garbage int64 // that training may leave lying about

	building int64 // of the process, while an M is built that plan did not build; else 0
}

// memory splits the estimate into its parts.
func (j *job) memory() runfolder.Memory {
	table := int64(j.text.vocabulary.Len()) * int64(j.config.Dim) * 4
	m := runfolder.Memory{
		Corpus: j.text.vocabulary.Bytes(), Matrix: j.estimate.matrix, Tables: 2 * table, Moments: j.estimate.moments,
	}
	j.executor.tell(&m)
	if j.mode.ReadsText() {
		m.Corpus += j.text.corpus.Text().Bytes()
	}
	m.Work = max(j.estimate.trainer-m.Tables-m.Moments, 0) + j.exportBytes()
	m.Total = m.Corpus + m.Matrix + m.Tables + m.Moments + m.Work
	return m
}

// exportBytes estimates the memory of writing the vectors: their sum, and an index
// of the words for each of the two files.
func (j *job) exportBytes() int64 {
	bytes := 2 * j.text.vocabulary.IndexBytes()
	if j.config.ContextWeight != 0 {
		bytes += int64(j.text.vocabulary.Len()) * int64(j.config.Dim) * 4
	}
	return bytes
}

// memoryWithPeak is asked when the trainer has been measured: all that training
// touches is resident, and the export and some garbage are still to come. While
// one load of garbage is collected, another may be made.
func (j *job) memoryWithPeak() runfolder.Memory {
	m, readers := j.memory(), j.text.corpus.ReaderBytes(j.config.ThreadCount())
	j.text.corpus.GiveBack() // as the export does
	m.Peak = max(machine.PeakRSS(), machine.Resident()+max(j.exportBytes(), readers)+2*j.estimate.garbage, j.estimate.building, m.Total)
	return m
}

// lessMemory says which settings lower the need of memory.
func (j *job) lessMemory() string {
	c := &j.config
	var ways []string
	if j.estimate.matrix > 0 {
		ways = append(ways, fmt.Sprintf("lower --contexts (now %d) or --positives (now %v)", c.Contexts, c.Positives))
	}
	ways = append(ways, fmt.Sprintf("lower --dim (now %d)", c.Dim), fmt.Sprintf("raise --min-count (now %d)", c.MinCount))
	switch c.Subword {
	case settings.SubwordCNN:
		ways = append(ways, fmt.Sprintf("lower --filters (now %s)", c.Filters))
	case settings.SubwordNGram:
		ways = append(ways, fmt.Sprintf("lower --max-ngram (now %d) or --buckets (now %d)", c.MaxGram, c.Buckets))
	}
	var lighter []string
	for _, d := range optim.Methods() {
		if d.Bytes(100, 100) < (optim.Config{Method: optim.Method(c.Optimizer)}).Bytes(100, 100) {
			lighter = append(lighter, string(d.Name))
		}
	}
	if lighter != nil {
		ways = append(ways, "or take --optimizer "+strings.Join(lighter, " or "))
	}
	return strings.Join(ways, ", ")
}
