package train

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/w2vcl/w2vcl/graph"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/sequential"
	"github.com/w2vcl/w2vcl/subword"
	"github.com/w2vcl/w2vcl/train/progress"
	"github.com/w2vcl/w2vcl/train/runfolder"
	"github.com/w2vcl/w2vcl/train/settings"
	"github.com/w2vcl/w2vcl/train/trainer"
)

// A start is the model that training goes on from. The zero start is none.
type start struct {
	runfolder.Start
	rows    []int                 // the row of each word of the vocabulary; -1: the word is new
	moments *runfolder.SavedState // a checkpoint with moments; nil: they start anew
	state   [][]float32           // each table of the trainer before training, then after training; nil for moments
	before  [][]int               // for each table, what job.before returns
	kept    [][]float32           // for each word that training did not change, its vector in the start; nil for others
}

// readStart reads the model that training goes on from, and adds its words to the vocabulary. Words that the text lacks
// keep their vectors.
func (j *job) readStart(ctx context.Context, p *progress.Progress) error {
	path := j.config.Init
	if path == "" {
		return nil
	}
	from, err := runfolder.LoadStart(ctx, path)
	if err != nil {
		return fmt.Errorf("--init: %w", err)
	}
	if j.config.Moments {
		if j.start.moments, err = runfolder.OpenMoments(path, &j.config); err != nil {
			return err
		}
		j.closers = append(j.closers, j.start.moments.Close)
	}
	if n := len(from.Vocabulary); len(from.Words) != n*j.config.Dim {
		return terminal.Usagef("--init %s has vectors of %d dimensions, not of %d: add --dim %d",
			path, len(from.Words)/n, j.config.Dim, len(from.Words)/n)
	}
	own := j.text.vocabulary.Len()
	grown, err := sequential.Grow(j.text.corpus, from.Vocabulary)
	if err != nil {
		return fmt.Errorf("--init %s: %w", path, err)
	}
	j.text.corpus = grown
	j.start.Start, j.start.rows = from, from.Rows(grown.Vocabulary)
	counts := slices.Clone(grown.Vocabulary.Counts)
	for word, row := range j.start.rows {
		if row >= 0 && from.Counts != nil {
			counts[word] += from.Counts[row]
		}
	}
	j.text.setVocabulary(grown.Vocabulary, counts...)
	known := own + len(from.Vocabulary) - j.text.vocabulary.Len()
	p.Notef("Start:   %s words of %s, %s of them in the text, which has %s more%s",
		terminal.Number(len(from.Vocabulary)), path, terminal.Number(known), terminal.Number(own-known), j.comesAlong(from))
	if !j.config.HasEncoder() {
		j.start.Encoder, j.start.Mean = nil, nil // then vectors are centred at zero, like the others in the same file
	}
	return nil
}

// comesAlong says what comes along from the start besides the words' vectors, and what does not.
func (j *job) comesAlong(from runfolder.Start) (text string) {
	switch composed := j.config.HasEncoder(); {
	case from.Encoder != nil && composed:
		text = "; its encoder comes along, and new words start from what it composes"
	case from.Encoder != nil:
		text = "; its encoder is left out, as --subword " + settings.SubwordNone + " says"
	case composed:
		text = "; --subword " + j.config.Subword + " is new"
	}
	switch {
	case j.startPositions() != nil:
		text += "; its position weights come along"
	case j.config.Positions() > 0:
		text += "; position weights start at 1"
	case from.Positions != nil:
		text += "; its position weights are left out"
	}
	if from.Contexts == nil {
		text += "; it has no contexts, which start at zero"
	}
	if j.config.Moments {
		text += "; the optimizer's moments come along"
	}
	return text + "; the run saves the mean of its vectors before and after training"
}

// startTables returns a function that copies the rows of the start into new tables; nil: there is no start.
func (j *job) startTables() func(words, contexts []float32) {
	if j.start.rows == nil {
		return nil
	}
	return func(words, contexts []float32) { j.start.CopyTo(j.start.rows, words, contexts) }
}

// startPositions returns the position weights of the start; nil: it has none for windows of this width.
func (j *job) startPositions() []float32 {
	if len(j.start.Positions) != j.config.Positions()*j.config.Dim {
		return nil
	}
	return j.start.Positions
}

// continueEncoder makes the encoder go on from the start.
func (j *job) continueEncoder() error {
	if j.encoder == nil || j.start.rows == nil {
		return nil
	}
	from := j.start
	row := func(dst []float32, word int) bool {
		known := from.rows[word] >= 0
		if known {
			from.Row(dst, from.rows[word])
		}
		return known
	}
	return j.encoder.Continue(subword.Start{Encoder: from.Encoder, Row: row})
}

// startBytes is the memory of the start, and of the tables before training.
func (j *job) startBytes() int64 {
	bytes := j.start.Bytes() + 8*int64(j.config.Dim+4)*int64(len(j.start.rows))
	if e, ok := j.start.Encoder.(interface{ FileBytes() int64 }); ok {
		bytes += e.FileBytes()
	}
	if j.start.rows != nil && j.encoder != nil {
		bytes += j.encoder.FileBytes()
	}
	return bytes
}

// keepStart keeps the tables that the trainer starts with, and gives it the moments of the start.
func (j *job) keepStart(ctx context.Context) error {
	if j.start.rows == nil {
		return nil
	}
	err := cmp.Or(trainer.Ready(j.trainer), trainer.Pull(j.trainer, false))
	var names []string // of moments
	var moments [][]float32
	for _, tensor := range j.trainer.State() {
		var values []float32
		var rows []int
		if strings.Contains(tensor.Name, ".") || tensor.Name == graph.MinibatchesTensor {
			names, moments = append(names, tensor.Name), append(moments, tensor.Data)
		} else {
			values, rows = slices.Clone(tensor.Data), j.before(tensor.Name)
		}
		j.start.state, j.start.before = append(j.start.state, values), append(j.start.before, rows)
	}
	if err != nil || j.start.moments == nil {
		return err
	}
	saved, err := j.start.moments.Tensors(ctx, names...)
	for i, values := range saved {
		trainer.CopyRows(moments[i], values, j.before(names[i]))
	}
	return err
}

// before returns, for each row of a table of the trainer or of its moments, which row of the start it was; -1: it is new. nil: every row is
// where it was.
func (j *job) before(tensor string) []int {
	switch table, _, _ := strings.Cut(tensor, "."); {
	case table == "contexts" && j.start.Contexts == nil:
		return slices.Repeat([]int{-1}, len(j.start.rows))
	case table == graph.PositionsTensor && j.startPositions() == nil:
		return slices.Repeat([]int{-1}, j.config.Positions())
	case table == graph.PositionsTensor:
		return nil
	case table == "words" || table == "own" || table == "contexts":
		return j.start.rows
	case j.encoder == nil:
		return nil
	default:
		return j.encoder.StartRows(table)
	}
}

// frozen returns what restores the rows that --freeze keeps after each unit; nil: there are none. Within a unit, training
// moves and uses these rows.
func (j *job) frozen() func() {
	words, parts := j.config.Freezes(settings.FreezeWords), j.config.Freezes(settings.FreezeParts)
	keeps := map[string]bool{"words": words, "own": words, "contexts": words, "parts": parts}
	if !words && !parts {
		return nil
	}
	return func() {
		n := j.config.Dim
		for k, t := range j.trainer.State() {
			for i, row := range j.start.before[k] {
				if keeps[t.Name] && row >= 0 {
					copy(t.Data[i*n:][:n], j.start.state[k][i*n:])
				}
			}
		}
	}
}

// share is the weight of the start in the saved mean: each side counts by the square root of the words that it was trained on. By the words
// themselves, a small text would change next to nothing (benchmarks/recipes).
func (j *job) share() float32 {
	if j.start.Trained == 0 { // it does not say
		return 0.5
	}
	began, trained := math.Sqrt(j.start.Trained), math.Sqrt(j.trained)
	return float32(began / (began + trained))
}

// average sets the tables to the weighted mean of before and after training, see share. Training on the new text forgets the older one,
// and the mean knows both (benchmarks/recipes). Rows that the start does not have stay, and new words keep their vectors.
func (j *job) average() error {
	if j.start.rows == nil {
		return nil
	}
	if err := trainer.Refresh(j.trainer); err != nil {
		return err
	}
	words, _ := j.trainer.Tables()
	share, moved, parts := j.share(), make([]bool, len(j.start.rows)), map[uint32]bool{}
	for k, t := range j.trainer.State() {
		rows := j.start.before[k]
		n := len(t.Data) / max(len(rows), 1)
		for first := 0; first < len(j.start.state[k]); first += n {
			before, now, row := j.start.state[k][first:][:n], t.Data[first:][:n], first/n
			if slices.Equal(before, now) {
				continue
			}
			switch t.Name {
			case "words", "own", "contexts":
				moved[row] = true
			case "parts":
				parts[uint32(row)] = true
			}
			for i, end := range now {
				if rows == nil || rows[row] >= 0 {
					now[i] += float32(share * (before[i] - end)) // rounded twice on every machine
				}
				before[i] = end
			}
		}
	}
	e, ok := j.encoder.(*subword.NGrams)
	j.start.kept = make([][]float32, len(j.start.rows))
	for word, row := range j.start.rows {
		moves := moved[word] || ok && slices.ContainsFunc(e.Composition().Of(uint32(word)), func(part uint32) bool { return parts[part] })
		if row >= 0 && !moves && !j.config.HasNetwork() {
			j.start.kept[word] = j.start.Words[row*j.config.Dim:][:j.config.Dim]
		}
	}
	if ok {
		e.SetWords(func(dst []float32, word int) bool {
			copy(dst, words[word*j.config.Dim:])
			return j.start.rows[word] < 0
		})
	}
	return nil
}

// undoAverage restores the tables after training, for a checkpoint.
func (j *job) undoAverage() {
	for k, end := range j.start.state {
		copy(j.trainer.State()[k].Data, end)
	}
}

// offsetCounts returns the counts of the words to which the offset of unseen words is fitted: words of both the start and the text.
// Others have 0. New words, trained in a model that already has the other words, lie apart from the rest (benchmarks/recipes).
func (j *job) offsetCounts() []uint64 {
	counts := slices.Clone(j.text.saved.Counts)
	for word, row := range j.start.rows {
		if row < 0 || j.text.vocabulary.Counts[word] == 0 {
			counts[word] = 0
		}
	}
	return counts
}

// keepCenter subtracts the center of the start from all vectors, in place of their own, if --freeze keeps n-grams. Then what
// n-grams compose does not change either. It returns the center that was subtracted.
func (j *job) keepCenter(vectors, center []float32) []float32 {
	if center == nil || j.start.Mean == nil || !j.config.Freezes(settings.FreezeParts) {
		return center
	}
	for i := range vectors {
		vectors[i] += center[i%len(center)] - j.start.Mean[i%len(center)]
	}
	return j.start.Mean
}
