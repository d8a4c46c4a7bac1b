package train

import (
	"github.com/w2vcl/w2vcl/subword"
	"github.com/w2vcl/w2vcl/train/runfolder"
	"github.com/w2vcl/w2vcl/train/settings"
)

// unseenRidge is what was best for pairs with an unseen word (benchmarks/subwords).
const unseenRidge = 0.02

// makeEncoder makes the encoder, if there is one, and finds the n-grams that are to be fitted, so that their memory is known
// before training.
func (j *job) makeEncoder() (err error) {
	words := j.text.vocabulary.Words
	if j.encoder, err = j.config.NewEncoder(words); err == nil && j.config.FitsUnseen() {
		j.unseen, err = subword.NewFit(words, j.config.Dim, j.encoder)
	}
	return err
}

// composes reports whether the run folder gets what composes words that the text lacks.
func (j *job) composes() bool { return j.encoder != nil || j.unseen != nil }

// saving says what is done after training, which a fit makes long.
func (j *job) saving() string {
	if j.unseen != nil {
		return "saving the vectors, then fitting n-grams for unseen words"
	}
	return "saving the vectors"
}

// exportUnseen fits n-grams to the vectors, and writes them.
func (j *job) exportUnseen(folder *runfolder.Folder, vectors []float32) error {
	once, err := j.unseen.Fit(vectors, j.text.vocabulary.Counts, unseenRidge, j.config.ThreadCount())
	if err != nil {
		return err
	}
	return subword.Save(folder.Path(runfolder.FitFile), j.unseen, once)
}

// listBytes is the memory of what an encoder knows of the vocabulary.
func (j *job) listBytes() int64 {
	if j.encoder == nil {
		return 0
	}
	return j.encoder.ListBytes()
}

// unseenBytes is the memory of exportUnseen, and of what is known of the words before.
func (j *job) unseenBytes() int64 {
	switch {
	case j.unseen == nil:
		return 0
	case j.config.Subword == settings.SubwordNGram: // the encoder's
		return j.unseen.FitBytes()
	default:
		return j.unseen.FitBytes() + j.unseen.ListBytes()
	}
}

// unseenSeconds is about how long exportUnseen takes.
func (j *job) unseenSeconds() float64 {
	if j.unseen == nil {
		return 0
	}
	return j.unseen.FitSeconds(j.config.ThreadCount())
}
