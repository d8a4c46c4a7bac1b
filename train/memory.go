package train

import (
	"context"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/w2vcl/w2vcl/internal/machine"
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/train/runfolder"
	"github.com/w2vcl/w2vcl/train/settings"
	"github.com/w2vcl/w2vcl/train/trainer"
	"github.com/w2vcl/w2vcl/wordcontext"
	"github.com/w2vcl/w2vcl/wordcontext/cooccurrence"
)

// A memoryGuard refuses work of a run before anything is allocated for it.
type memoryGuard struct {
	memory.Guard
	inUse int64 // memory that the process had when the run began: to measure it takes milliseconds
}

// newMemoryGuard takes the limit from the settings or the machine, and collects all garbage. The limit holds for
// Go's collector, too, until release is called; meanwhile there is at most half as much garbage as memory in use.
// Of runs side by side, the memory was checked before.
func newMemoryGuard(c *settings.Config, o Options) (g memoryGuard, release func(), err error) {
	if o.beside != nil {
		return memoryGuard{inUse: o.beside.inUse}, func() {}, nil
	}
	limit := int64(0)
	if !c.MaxMemory.IsZero() {
		total, _ := machine.Memory()
		if limit, err = c.MaxMemory.Bytes(total); err != nil {
			return g, nil, terminal.Usagef("--max-memory %s: %v", c.MaxMemory, err)
		}
	}
	guard, unlimited := memory.NewGuard(limit)
	percent := debug.SetGCPercent(50)
	release = func() {
		debug.SetGCPercent(percent)
		unlimited()
	}
	return memoryGuard{Guard: guard, inUse: memory.Resident()}, release, nil
}

// LimitMemory keeps the process to the --max-memory of the settings until release is called, for work
// around several runs.
func LimitMemory(c settings.Config) (release func(), err error) {
	_, release, err = newMemoryGuard(&c, Options{})
	return release, err
}

// CheckMemory returns the error with which a run of a text that is in memory would be refused, or the bytes that the run takes, with M
// in memory, beside what the process has now. M is not made, so what training of a whole matrix takes is not known.
func CheckMemory(ctx context.Context, c settings.Config, o Options) (bytes int64, err error) {
	j := &job{config: c, options: o, dry: true, asks: true}
	defer j.close()
	if c.FindMode().Family == settings.WholeMatrix {
		return 0, nil
	}
	if err := j.prepare(ctx, nil); err != nil {
		return 0, err
	}
	bytes = j.sum() - j.guard.inUse
	if j.mode.Family == settings.LargeBatch {
		building, matrix := wordcontext.EstimateBytes(j.text.corpus, j.config.MatrixOptions())
		bytes = max(bytes+matrix+matrix/16, building+j.text.corpus.ReaderBytes(c.ThreadCount()))
	}
	if c.Graph != "" { // each run reads it
		bytes = max(bytes, machine.PeakRSS()-j.guard.inUse)
	}
	return bytes, nil
}

// checkText is the first and coarsest check: only the sizes of the files are known.
func (g memoryGuard) checkText(bytes int64) error {
	return g.Check("reading the text", "use less text, or give it more memory",
		memory.Need{Purpose: "text", Bytes: textNeed(bytes, g.Limit)},
		memory.Need{Purpose: "memory in use now", Bytes: g.inUse})
}

// needs lists what the run takes, with what the trainer has or will have.
func (j *job) needs(a *trainer.Account) []memory.Need {
	m := j.memoryOf(a)
	return []memory.Need{
		{Purpose: "text", Bytes: m.Corpus},
		{Purpose: "matrix M", Bytes: m.Matrix},
		{Purpose: "tables", Bytes: m.Tables},
		{Purpose: "moments", Bytes: m.Moments},
		{Purpose: "work", Bytes: m.Work},
		{Purpose: "program and garbage", Bytes: j.program + memory.Margin(m.Total)},
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

func (j *job) check(a *trainer.Account) error {
	return j.guard.Check("training", j.lessMemory(), j.needs(a)...)
}

// memory is the memory of training, by part.
func (j *job) memory() runfolder.Memory { return j.memoryOf(j.account) }

func (j *job) memoryOf(a *trainer.Account) runfolder.Memory {
	m := runfolder.Memory{
		Corpus: j.text.vocabulary.Bytes(), Matrix: j.matrix + a.Sum(cooccurrence.ForMatrix),
		Tables: a.Sum(trainer.ForTables), Moments: a.Sum(trainer.ForMoments),
		Work: a.Sum(trainer.ForWork) + j.startBytes() + j.spellingBytes() + j.copyBytes(),
	}
	if j.start.moments != nil {
		m.Work += m.Moments // those of the start, while they are copied
	}
	j.executor.tell(&m)
	if j.mode.ReadsText() {
		m.Corpus += j.text.corpus.Text().Bytes(j.config.ThreadCount())
	}
	m.Total = m.Corpus + m.Matrix + m.Tables + m.Moments + m.Work
	return m
}

// copyBytes is the memory of copies of a table: of the vectors that an encoder is written for, and of those that are
// scored, with the unit vectors and indexes of their words.
func (j *job) copyBytes() int64 {
	const index = 200 // of a word
	v := int64(j.text.vocabulary.Len())
	table := 4 * v * int64(j.config.Dim)
	if j.options.Observe != nil {
		return 2*table + index*v
	}
	if j.composes() && j.config.ContextWeight != 0 {
		return table
	}
	return 0
}

// memoryWithPeak is asked once the trainer is made. Reading and the building of M may have taken more than training
// takes. In another run they may take a little more, because garbage is collected later.
func (j *job) memoryWithPeak() runfolder.Memory {
	m := j.memory()
	m.Peak = max(j.sum(), j.prepared+j.prepared/16)
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
	ways = append(ways, fmt.Sprintf("lower --dim (now %d)", c.Dim))
	if c.Graph == "" { // all nodes of a graph stay
		ways = append(ways, fmt.Sprintf("raise --min-count (now %d)", c.MinCount))
	}
	switch {
	case c.Subword == settings.SubwordCNN:
		ways = append(ways, fmt.Sprintf("lower --filters (now %s)", c.Filters))
	case c.ComposesRows():
		ways = append(ways, fmt.Sprintf("lower --max-ngram (now %d) or --buckets (now %d)", c.MaxGram, c.Buckets))
	case c.HasNetwork():
		ways = append(ways, fmt.Sprintf("lower --max-chars (now %d)", c.MaxChars))
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
