package train

import (
	"context"
	"fmt"
	"strings"

	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/internal/atomicfile"
	"github.com/w2vcl/w2vcl/internal/machine"
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/subword"
	"github.com/w2vcl/w2vcl/train/runfolder"
	"github.com/w2vcl/w2vcl/train/settings"
	"github.com/w2vcl/w2vcl/train/trainer"
	"github.com/w2vcl/w2vcl/wordcontext/cooccurrence"
)

// A memoryGuard refuses work of a run before anything is allocated for it.
type memoryGuard struct {
	memory.Guard
	inUse int64 // memory that the process had when the run began: to measure it takes milliseconds
}

// newMemoryGuard takes the limit from the settings or the machine, and collects all garbage. The limit holds for
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
	g.inUse = memory.Resident()
	return g, release, nil
}

// LimitMemory keeps the process to the --max-memory of the settings until release is called, for work
// around several runs.
func LimitMemory(c settings.Config) (release func(), err error) {
	_, release, err = newMemoryGuard(&c)
	return release, err
}

// leftByRuns is what runs leave in a process that the next one does not use again, in bytes, measured: code, stacks, ends of pages.
const leftByRuns = 2 << 20

// CheckMemory returns the error with which a run of a text that is in memory would be refused after other runs. M is not made, so that what
// training of a whole matrix needs is known only if pairs are counted.
func CheckMemory(ctx context.Context, c settings.Config, o Options, counts bool) error {
	j := &job{config: c, options: o, dry: true, asks: true}
	defer j.close()
	if c.FindMode().Family == settings.WholeMatrix && !counts {
		return nil
	}
	return j.prepare(ctx, nil)
}

// checkText is the first and coarsest check: only the sizes of the files are known.
func (g memoryGuard) checkText(bytes int64) error {
	return g.Check("reading the text", "use less text, or a machine with more memory",
		memory.Need{Purpose: "text", Bytes: textNeed(bytes, g.Limit)},
		memory.Need{Purpose: "memory in use now", Bytes: g.inUse})
}

// needs lists all that training takes, with what the trainer has or will have.
func (j *job) needs(trainer *trainer.Account) []memory.Need {
	m := j.memoryOf(trainer)
	beside, bytes := j.besideStep(trainer)
	work := m.Work - bytes
	if j.preparing > bytes {
		beside, bytes = "preparing", j.preparing
	}
	return []memory.Need{
		{Purpose: "text", Bytes: m.Corpus},
		{Purpose: "matrix M", Bytes: m.Matrix},
		{Purpose: "tables", Bytes: m.Tables},
		{Purpose: "moments", Bytes: m.Moments},
		{Purpose: "work", Bytes: work},
		{Purpose: beside, Bytes: bytes},
		// While one load of garbage is collected, another may be made.
		{Purpose: "garbage", Bytes: 2 * memory.Garbage(m.Total)},
		{Purpose: "program", Bytes: j.program},
	}
}

// sum is the memory of training and of all around it.
func (j *job) sum() (bytes int64) {
	for _, n := range j.needs(j.account) {
		bytes += n.Bytes
	}
	return bytes
}

// sumWith is the sum with an M of so many bytes. Garbage grows with M, so this is more than the sum without M and M together.
func (j *job) sumWith(matrix int64) int64 {
	defer func(before int64) { j.matrix = before }(j.matrix)
	j.matrix = matrix
	return j.sum()
}

// ask runs what asks for the trainer's memory, dry.
func (j *job) ask(ask func(a *trainer.Account) error) (err error) {
	j.account = trainer.Dry(func(a *trainer.Account) { err = ask(a) })
	return err
}

// checkTraining refuses training that needs more memory than there is. It is asked before M is
// built, which is in vain if training cannot begin, and before the trainer is made.
func (j *job) checkTraining() error { return j.check(j.account) }

func (j *job) check(trainer *trainer.Account) error { return j.checkAs("training", trainer) }

// checkAs refuses what is being done if it needs too much. A text that is in a file as memory is short may be
// in memory under the limit that the error names, which has to be enough for it there.
func (j *job) checkAs(doing string, trainer *trainer.Account) error {
	needs := j.needs(trainer)
	err := j.guard.Check(doing, j.lessMemory(), needs...)
	if err == nil || j.config.Cache != "" || !j.mode.ReadsText() {
		return err
	}
	if text := j.text.corpus.Text(); text.InFile() && textNeed(j.text.stats.Bytes, 0) <= memoryOf(j.sum()) {
		needs[0].Bytes += max(text.BytesInMemory()-text.Bytes(j.config.ThreadCount()), 0)
	}
	return j.guard.Check(doing, j.lessMemory(), needs...)
}

// memory is the memory of training, by part.
func (j *job) memory() runfolder.Memory { return j.memoryOf(j.account) }

func (j *job) memoryOf(a *trainer.Account) runfolder.Memory {
	_, beside := j.besideStep(a)
	m := runfolder.Memory{
		Corpus: j.text.vocabulary.Bytes(), Matrix: j.matrix + a.Sum(cooccurrence.ForMatrix),
		Tables: a.Sum(trainer.ForTables), Moments: a.Sum(trainer.ForMoments),
		Work: a.Sum(trainer.ForWork, trainer.ForPages, trainer.ForStep) + subword.ListBytes(j.encoder) + j.unseenLists() + j.start.Bytes() + beside,
	}
	j.executor.tell(&m)
	if j.mode.ReadsText() {
		m.Corpus += j.text.corpus.Text().Bytes(j.config.ThreadCount())
	}
	m.Total = m.Corpus + m.Matrix + m.Tables + m.Moments + m.Work
	return m
}

// besideStep is what afterTraining takes beside the memory that only steps of training have.
func (j *job) besideStep(a *trainer.Account) (purpose string, bytes int64) {
	purpose, bytes = j.afterTraining()
	return purpose, max(bytes-a.Sum(trainer.ForStep), 0)
}

// afterTraining is the memory of what is done with trained tables, the most of it at a time.
func (j *job) afterTraining() (purpose string, bytes int64) {
	purpose, bytes = "saving", j.exportBytes()
	if j.options.Observe == nil {
		return purpose, bytes
	}
	vectors := embedding.IndexBytes * int64(j.text.vocabulary.Len())
	if j.config.ContextWeight != 0 {
		vectors += j.tableBytes()
	}
	if looking := j.options.ObservationBytes + vectors; looking > bytes {
		return "scoring", looking
	}
	return purpose, bytes
}

func (j *job) tableBytes() int64 { return int64(j.text.vocabulary.Len()) * int64(j.config.Dim) * 4 }

// exportBytes is the memory of writing the vectors: buffers for each of the two files, and for an encoder's a buffer, the
// offset and the sum of the tables.
func (j *job) exportBytes() int64 {
	v := j.text.vocabulary
	bytes := 2 * (atomicfile.BufferBytes + embedding.BinaryBytes(v.Len(), v.WordBytes(), j.config.Dim))
	if e := j.written(); e != nil {
		bytes += atomicfile.BufferBytes + subword.OffsetBytes(e) + j.unseenBytes()
		if j.config.ContextWeight != 0 {
			bytes += j.tableBytes()
		}
	}
	return bytes
}

// pagesDiffer is how far the peaks of small runs lie above what is in use after some units: when Go collects, and which
// pages are large, differs from run to run.
const pagesDiffer = 4 << 20

// memoryWithPeak is asked when the trainer has trained some units. What lies behind is measured; the
// export and some garbage are still to come.
func (j *job) memoryWithPeak() runfolder.Memory {
	_, after := j.afterTraining()
	m, readers := j.memory(), j.text.corpus.ReaderBytes(j.config.ThreadCount())
	peak := machine.PeakRSS()
	peak += memory.Garbage(peak) // that of the next run may be as much higher: collections may be late
	j.text.corpus.GiveBack()     // as the export does
	garbage := memory.Garbage(m.Total)
	coming := max(after+memory.CodeToCome/2+garbage*3/4, readers+garbage, pagesDiffer)
	m.Peak = max(peak, memory.Resident()+coming, j.building)
	// Tables that nothing was written to yet are not resident. Two loads of garbage and what all readers have rarely lie there at once.
	m.Peak = max(m.Peak, j.sum()-max(garbage/2, min(readers, garbage)))
	return m
}

// lessMemory says which settings lower the need of memory.
func (j *job) lessMemory() string {
	c := &j.config
	var ways []string
	switch {
	case j.mode.Family == settings.WholeMatrix:
		ways = append(ways, fmt.Sprintf("lower --window (now %d)", c.Window))
	case j.matrix > 0:
		ways = append(ways, fmt.Sprintf("lower --contexts (now %d) or --positives (now %v)", c.Contexts, c.Positives))
	}
	ways = append(ways, fmt.Sprintf("lower --dim (now %d)", c.Dim), fmt.Sprintf("raise --min-count (now %d)", c.MinCount))
	switch c.Subword {
	case settings.SubwordCNN:
		ways = append(ways, fmt.Sprintf("lower --filters (now %s)", c.Filters))
	case settings.SubwordNGram:
		ways = append(ways, fmt.Sprintf("lower --max-ngram (now %d) or --buckets (now %d)", c.MaxGram, c.Buckets))
	}
	if j.unseen != nil {
		ways = append(ways, "take --unseen encoder")
	}
	var lighter []string
	moments := func(m optim.Method) int64 { return optim.Options{Method: m}.Bytes(100, 100) }
	for _, d := range optim.Methods() {
		if moments(d.Name) < moments(optim.Method(c.Optimizer)) {
			lighter = append(lighter, string(d.Name))
		}
	}
	if lighter != nil {
		ways = append(ways, "or take --optimizer "+strings.Join(lighter, " or "))
	}
	return strings.Join(ways, ", ")
}
