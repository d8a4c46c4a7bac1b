package train

import (
	"cmp"
	"context"
	"fmt"
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
	rows  []int       // of each word of the vocabulary; -1: it is new
	state [][]float32 // the trainer's tables before training; nil for its moments

	words, contexts []float32 // W and C before training
}

// readStart reads the model that training goes on from. The vocabulary then has its words, too: those that the text lacks
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
	j.text.setVocabulary(grown.Vocabulary)
	known := own + len(from.Vocabulary) - j.text.vocabulary.Len()
	p.Notef("Start:   %s words of %s, %s of them in the text, which has %s more%s",
		terminal.Number(len(from.Vocabulary)), path, terminal.Number(known), terminal.Number(own-known), j.comesAlong(from))
	if !j.config.HasEncoder() {
		from.Encoder, from.Mean = nil, nil // vectors are around zero then, as those of others in the same file
	}
	j.start = start{Start: from, rows: from.Rows(j.text.vocabulary)}
	return nil
}

// comesAlong says what of a start but words' vectors comes along, and what does not.
func (j *job) comesAlong(from runfolder.Start) (text string) {
	switch composed := j.config.HasEncoder(); {
	case from.Encoder != nil && composed:
		text = "; its encoder comes along, and new words start from what it composes"
	case from.Encoder != nil:
		text = "; its encoder is left out, as --subword " + settings.SubwordNone + " says"
	case composed:
		text = "; --subword " + j.config.Subword + " is new"
	}
	if from.Contexts == nil {
		text += "; it has no contexts, which start at zero"
	}
	return text + "; what is saved is the mean of the start and what is trained"
}

// startTables returns what writes the rows of the start over new tables; nil: there is none.
func (j *job) startTables() func(words, contexts []float32) {
	if j.start.rows == nil {
		return nil
	}
	return func(words, contexts []float32) { j.start.CopyTo(j.text.vocabulary, words, contexts, j.config.Dim) }
}

// continueEncoder lets the encoder go on from the start.
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
	bytes := j.start.Bytes() + 16*int64(j.config.Dim+1)*int64(len(j.start.rows))
	if e, ok := j.start.Encoder.(interface{ FileBytes() int64 }); ok {
		bytes += e.FileBytes()
	}
	if j.start.rows != nil && j.encoder != nil {
		bytes += j.encoder.FileBytes()
	}
	return bytes
}

// keepStart keeps the tables that a trainer starts with.
func (j *job) keepStart(t trainer.Trainer) error {
	if j.start.rows == nil {
		return nil
	}
	err := cmp.Or(trainer.Ready(t), trainer.Pull(t, false), trainer.Refresh(t))
	words, contexts := t.Tables()
	j.start.words, j.start.contexts = slices.Clone(words), slices.Clone(contexts)
	for _, tensor := range t.State() {
		j.start.state = append(j.start.state, nil)
		if !strings.Contains(tensor.Name, "moment") && !strings.Contains(tensor.Name, "updates") && tensor.Name != graph.MinibatchesTensor {
			j.start.state[len(j.start.state)-1] = slices.Clone(tensor.Data)
		}
	}
	return err
}

// starts reports whether the start has a row of a tensor of a trainer's state.
func (j *job) starts(tensor string, row int) bool {
	switch tensor {
	case "words", "own":
		return j.start.rows[row] >= 0
	case "contexts":
		return j.start.rows[row] >= 0 && j.start.Contexts != nil
	case "parts":
		return j.encoder.(*subword.NGrams).Knows(row)
	default:
		return true
	}
}

// frozen returns what brings the rows back that --freeze keeps, after each unit: within one, those that are trained meet them as they
// move. nil: none are kept.
func (j *job) frozen() func() {
	words, parts := j.config.Freezes(settings.FreezeWords), j.config.Freezes(settings.FreezeParts)
	keeps := map[string]bool{"words": words, "own": words, "contexts": words, "parts": parts}
	if !words && !parts {
		return nil
	}
	return func() {
		n := j.config.Dim
		for k, t := range j.trainer.State() {
			for first := 0; keeps[t.Name] && first < len(t.Data); first += n {
				if j.starts(t.Name, first/n) {
					copy(t.Data[first:first+n], j.start.state[k][first:])
				}
			}
		}
	}
}

// share is the part of the start in what is saved: of the words trained until now, those before this run.
func (j *job) share() float32 {
	switch {
	case j.start.rows == nil:
		return 0
	case j.start.Trained == 0: // it does not say
		return 0.5
	default:
		return float32(j.start.Trained / (j.start.Trained + j.trained))
	}
}

// average sets the tables to the mean of the start and of what training made of it, by the words of either. What either has learned alone
// wanes in training on the text of the other, but the mean has both (benchmarks/recipes). Rows that the start does not have stay, and new words keep
// their vectors.
func (j *job) average() error {
	if j.start.rows == nil {
		return nil
	}
	if err := trainer.Refresh(j.trainer); err != nil {
		return err
	}
	words, _ := j.trainer.Tables()
	share, n := j.share(), j.config.Dim
	for k, t := range j.trainer.State() {
		for first := 0; first < len(j.start.state[k]); first += n {
			starts := j.starts(t.Name, first/n)
			for i := first; i < min(first+n, len(t.Data)); i++ {
				began, end := j.start.state[k][i], t.Data[i]
				if starts {
					t.Data[i] += float32(share * (began - end)) // rounded twice on every machine
				}
				j.start.state[k][i] = end
			}
		}
	}
	if e, ok := j.encoder.(*subword.NGrams); ok {
		e.SetWords(func(dst []float32, word int) bool {
			copy(dst, words[word*n:])
			return j.start.rows[word] < 0
		})
	}
	return nil
}

// undoAverage brings back what training made, for a checkpoint.
func (j *job) undoAverage() {
	for k, end := range j.start.state {
		copy(j.trainer.State()[k].Data, end)
	}
}

// untouched returns the vector with which the start had each word that training left as it was; nil for others, or without a start.
func (j *job) untouched(words, contexts []float32) (vectors [][]float32) {
	n := j.config.Dim
	for word, row := range j.start.rows {
		from, to := word*n, (word+1)*n
		vectors = append(vectors, nil)
		if row >= 0 && slices.Equal(words[from:to], j.start.words[from:to]) && slices.Equal(contexts[from:to], j.start.contexts[from:to]) {
			vectors[word] = j.start.Words[row*n:][:n]
		}
	}
	return vectors
}
