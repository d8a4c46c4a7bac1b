package train

import (
	"fmt"
	"io"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/train/cluster"
	"github.com/w2vcl/w2vcl/train/progress"
	"github.com/w2vcl/w2vcl/train/runfolder"
	"github.com/w2vcl/w2vcl/train/settings"
	"github.com/w2vcl/w2vcl/train/trainer"
)

// Options are decisions of the program, not of its user. The zero value is a plain
// run.
type Options struct {
	// Source is read instead of Config.Corpus, which is its name then.
	Source io.Reader

	// Text is a text that was read before, by [ReadText] with the same
	// settings of section Text. Many runs can share one.
	Text *corpus.Corpus

	// Matrix, if not nil, returns M, which runs can share, and the seconds of its build.
	Matrix SharedMatrix

	// textFile is where an encoded text may be that memory is too small for, if the settings name no cache; "" is a
	// temporary file.
	textFile string

	// Observe is called Observations times, at equal steps of the work and the last time at
	// its end. The clock of the training stands still meanwhile. An error ends the run.
	Observe      func(Observation) error
	Observations int

	// Ranks, if not nil, are the ranks that train together; this is rank 0, and the others
	// [Follow].
	Ranks *cluster.Group

	beside *beside // other runs that train at the same time; nil: none

	// Steady makes [MakePlan] measure in processor time, see steady.
	Steady bool

	// NoPlan leaves out the plan, which takes a measurement to make.
	NoPlan bool
}

// An Observation is a look at a run between two units.
type Observation struct {
	Fraction float64 // of the whole work, from 0 to 1
	Units    int     // finished
	Seconds  float64 // of training
	Pairs    float64 // trained
	Loss     float64 // per pair, of the last line of metrics

	Vocabulary      *corpus.Vocabulary
	Words, Contexts []float32 // the tables W and C, (V, N); not to be changed or kept

	Scores   map[string]float64 // by data set: for the observer to fill in, and for the line of metrics
	Progress *progress.Progress // of the run

	config *settings.Config
}

// Vectors returns what vectors.bin would hold now, before rare words lean on a fit.
func (o Observation) Vectors() (*embedding.Table, error) {
	vectors, _ := o.config.Exported(o.Words, o.Contexts)
	return embedding.NewTable(o.Vocabulary.Words, o.config.Dim, vectors)
}

// observer returns the function that the loop calls, nil if there is none.
func (j *job) observer(show *progress.Progress) func(runfolder.Position, float64) (map[string]float64, error) {
	if j.options.Observe == nil {
		return nil
	}
	return func(p runfolder.Position, fraction float64) (map[string]float64, error) {
		if err := trainer.Pull(j.trainer, false); err != nil {
			return nil, err
		}
		if err := trainer.Refresh(j.trainer); err != nil {
			return nil, fmt.Errorf("cannot compose the vectors: %w", err)
		}
		words, contexts := j.trainer.Tables()
		o := Observation{
			Fraction: fraction, Units: p.Units, Seconds: p.Seconds, Pairs: p.Pairs, Loss: p.Last.Loss,
			Vocabulary: j.text.vocabulary, Words: words, Contexts: contexts, Scores: map[string]float64{}, Progress: show, config: &j.config,
		}
		err := j.options.Observe(o)
		return o.Scores, err
	}
}
