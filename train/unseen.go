package train

import (
	"cmp"

	"github.com/w2vcl/w2vcl/subword"
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
	return cmp.Or(err, j.continueEncoder())
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

// spellingBytes is the memory of what the encoder and the fit know of the vocabulary, and of fitting.
func (j *job) spellingBytes() (bytes int64) {
	if j.encoder != nil {
		bytes += j.encoder.ListBytes()
	}
	if j.unseen != nil {
		bytes += j.unseen.FitBytes()
		if j.config.Subword != settings.SubwordNGram { // which shares its lists
			bytes += j.unseen.ListBytes()
		}
	}
	return bytes
}

// unseenSeconds is about how long the fit takes.
func (j *job) unseenSeconds() float64 {
	if j.unseen == nil {
		return 0
	}
	return j.unseen.FitSeconds(j.config.ThreadCount())
}
