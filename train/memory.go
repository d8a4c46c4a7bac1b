package train

import (
	"fmt"
	"strings"

	"github.com/w2vcl/w2vcl/cooccurrence"
	"github.com/w2vcl/w2vcl/internal/machine"
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/runfolder"
	"github.com/w2vcl/w2vcl/settings"
	"github.com/w2vcl/w2vcl/trainer"
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

// LimitMemory keeps the process to the --max-memory of the settings until release is called, for work
// around several runs.
func LimitMemory(c settings.Config) (release func(), err error) {
	_, release, err = newMemoryGuard(&c)
	return release, err
}

// checkText is the first and coarsest check: only the sizes of the files are known.
func (g memoryGuard) checkText(bytes int64) error {
	return g.Check("reading the text", "use less text, or a machine with more memory",
		memory.Need{Purpose: "text", Bytes: textNeed(bytes, g.Limit)},
		memory.Need{Purpose: "memory in use now", Bytes: machine.Resident()})
}

// programBytes is what the process takes by itself, measured with a text of a few words: its code,
// and what Go and the collector keep.
const programBytes = 24 << 20

// needs lists all that training takes, with what the trainer has or will have.
func (j *job) needs(trainer *trainer.Account) []memory.Need {
	m := j.memoryOf(trainer)
	return []memory.Need{
		{Purpose: "text", Bytes: m.Corpus},
		{Purpose: "matrix M", Bytes: m.Matrix},
		{Purpose: "tables", Bytes: m.Tables},
		{Purpose: "moments", Bytes: m.Moments},
		{Purpose: "work", Bytes: m.Work - j.exportBytes()},
		{Purpose: "saving", Bytes: j.exportBytes()},
		// While one load of garbage is collected, another may be made.
		{Purpose: "garbage", Bytes: 2 * memory.Garbage(m.Total)},
		{Purpose: "program", Bytes: programBytes},
		{Purpose: "other runs", Bytes: j.held},
	}
}

// sum is the memory of training and of all around it.
func (j *job) sum() (bytes int64) {
	for _, n := range j.needs(j.account) {
		bytes += n.Bytes
	}
	return bytes
}

// ask runs what asks for the trainer's memory, dry.
func (j *job) ask(ask func(a *trainer.Account) error) (err error) {
	j.account = trainer.Dry(func(a *trainer.Account) { err = ask(a) })
	return err
}

// checkTraining refuses training that needs more memory than there is. It is asked before M is
// built, which is in vain if training cannot begin, and before the trainer is made.
func (j *job) checkTraining() error { return j.check(j.account) }

func (j *job) check(trainer *trainer.Account) error {
	return j.guard.Check("training", j.lessMemory(), j.needs(trainer)...)
}

// memory is the memory of training, by part.
func (j *job) memory() runfolder.Memory { return j.memoryOf(j.account) }

func (j *job) memoryOf(a *trainer.Account) runfolder.Memory {
	m := runfolder.Memory{
		Corpus: j.text.vocabulary.Bytes(), Matrix: j.matrix + a.Sum(cooccurrence.ForMatrix),
		Tables: a.Sum(trainer.ForTables), Moments: a.Sum(trainer.ForMoments),
		Work: a.Sum(trainer.ForWork, trainer.ForPages) + j.start.Bytes() + j.exportBytes(),
	}
	j.executor.tell(&m)
	if j.mode.ReadsText() {
		m.Corpus += j.text.corpus.Text().Bytes()
	}
	m.Total = m.Corpus + m.Matrix + m.Tables + m.Moments + m.Work
	return m
}

// exportBytes is the memory of writing the vectors: their sum, an index of the words for each of the two
// files, and, as measured, what writing and an encoder's composing take beside.
func (j *job) exportBytes() int64 {
	const writing, composing, convolving = 2 << 20, 3 << 20, 7 << 20
	bytes := 2*j.text.vocabulary.IndexBytes() + writing
	switch {
	case j.config.Subword == settings.SubwordCNN:
		bytes += convolving
	case j.encoder != nil:
		bytes += composing
	}
	if j.config.ContextWeight != 0 {
		bytes += int64(j.text.vocabulary.Len()) * int64(j.config.Dim) * 4
	}
	return bytes
}

// memoryWithPeak is asked when the trainer has trained some units. What lies behind is measured; the
// export and some garbage are still to come.
func (j *job) memoryWithPeak() runfolder.Memory {
	m, readers := j.memory(), j.text.corpus.ReaderBytes(j.config.ThreadCount())
	j.text.corpus.GiveBack()           // as the export does
	garbage := memory.Garbage(m.Total) // beside what lies about already
	peak := machine.PeakRSS()
	peak += peak / 20 // that of the next run may be as much higher
	m.Peak = max(peak, machine.Resident()+max(j.exportBytes(), readers)+garbage, j.building)
	if !j.trainsFromFile() { // programBytes has what reading leaves behind; a text in a file leaves little
		m.Peak = max(m.Peak, j.sum()-garbage)
	}
	return m
}

// trainsFromFile reports whether the text of training is in a file.
func (j *job) trainsFromFile() bool {
	if !j.mode.ReadsText() {
		return false
	}
	path, _, _ := j.text.corpus.File()
	return path != ""
}

// lessMemory says which settings lower the need of memory.
func (j *job) lessMemory() string {
	c := &j.config
	var ways []string
	if j.matrix > 0 {
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
