package compare

import (
	"time"

	"github.com/w2vcl/w2vcl/compare/experiment"
	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/train/settings"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// matrices keep M for the runs that share it: one at a time, for it is large.
type matrices struct {
	held    *wordcontext.Matrix // nil: none
	text    *corpus.Corpus      // that it was built of
	seconds float64             // that took
}

// get returns M as train.Options.Matrix does. A run that shares M has the time of its build,
// as if it had built M itself.
func (s *matrices) get(text *corpus.Corpus, o wordcontext.Options, build func() (*wordcontext.Matrix, error)) (*wordcontext.Matrix, float64, error) {
	if s.holds(text, o) {
		return s.held, s.seconds, nil
	}
	s.close()
	start := time.Now()
	m, err := build()
	if err != nil {
		return nil, 0, err
	}
	s.held, s.text, s.seconds = m, text, time.Since(start).Seconds()
	return m, s.seconds, nil
}

func (s *matrices) holds(text *corpus.Corpus, o wordcontext.Options) bool {
	return s.held != nil && s.text == text && s.held.Matches(text, o) == nil
}

// keepFor lets go of M unless one of the runs to come, by their numbers, shares it.
func (s *matrices) keepFor(runs []experiment.Run, texts map[string]*corpus.Corpus, due func(i int) bool) {
	for i, r := range runs {
		text := texts[r.TextKey()]
		if r.Config.FindMode().Family == settings.LargeBatch && s.held != nil && due(i) {
			c := r.Config
			c.FitText(text.Vocabulary)
			if s.holds(text, c.MatrixOptions()) {
				return
			}
		}
	}
	s.close()
}

func (s *matrices) close() {
	if s.held != nil {
		_ = s.held.Close() // in memory only
	}
	*s = matrices{}
}
