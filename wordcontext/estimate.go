package wordcontext

import (
	"math"

	"github.com/w2vcl/w2vcl/corpus"
)

// EstimateContexts estimates how many contexts each word of a vocabulary has in all
// passes over its text, V numbers. It reads only the counts of the words and ignores
// the ends of sentences, which have fewer.
func EstimateContexts(v *corpus.Vocabulary, o Options) []float64 {
	perToken := float64(2*o.Window) * float64(o.Passes)
	if o.DynamicWindow {
		perToken = float64(o.Window+1) * float64(o.Passes) // on average
	}
	thresholds := corpus.KeepThresholds(v.Counts, o.Sample)
	contexts := make([]float64, v.Len())
	for i, count := range v.Counts {
		contexts[i] = float64(count) * perToken
		if o.Sample > 0 {
			contexts[i] *= float64(thresholds[i]) / (1 << 32)
		}
	}
	return contexts
}

// EstimateSlots returns about how many slots the samples of an iteration have in a
// matrix of so many rows, before M is built: each row rounds its samples up.
func EstimateSlots(rows int, o Options) int {
	if o = o.defining(); !o.tempered() {
		return rows
	}
	return rows + int(float64(rows)*o.Positives)
}

// expected returns the matrix that Build would make, without its contexts, as far as the
// counts of the words tell. The error is one of Build.
func expected(c *corpus.Corpus, o Options) (*Matrix, error) {
	if err := checkInput(c, &o); err != nil {
		return nil, err
	}
	m, share := newMatrix(c.Vocabulary.Len(), o), inSentences(c, o)
	for i, n := range EstimateContexts(c.Vocabulary, o) {
		m.totals[i] = uint64(math.Round(n * share))
	}
	var err error
	if m.lengths, err = rowLengths(m.totals, &m.options); err != nil {
		return nil, err
	}
	m.setOffsets()
	return m, nil
}

// inSentences returns which part of the contexts that EstimateContexts tells is left, for
// sentences end. It reads stretches all over the text, and adds a little: an estimate had
// better be too high.
func inSentences(c *corpus.Corpus, o Options) float64 {
	const (
		stretches, tokens = 16, 1 << 14
		more              = 1.02
	)
	s := newScan(c, &o, nil)
	var inside, all float64
	for k := range stretches {
		sentence, end := s.text.Find(k*s.tokens/stretches), s.text.Find((k+1)*s.tokens/stretches)
		for read := 0; sentence < end && read < tokens; sentence++ {
			words, sizes := s.reader.Sentence(0, sentence)
			for t := range words {
				size := o.Window
				if sizes != nil {
					size = int(sizes[t])
				}
				first, last := window(t, len(words), size)
				inside, all = inside+float64(last-first), all+float64(2*size)
			}
			read += s.text.Start(sentence+1) - s.text.Start(sentence)
		}
	}
	if all == 0 {
		return 1
	}
	return min(more*inside/all, 1)
}

// EstimateBytes estimates the memory that Build needs at its peak, in bytes, with
// the matrix and without the corpus, and of that Matrix.Bytes. It allocates 50 bytes a word at most, and
// reads the counts of the words and a small part of the text. Both are 0 for options or a corpus that Build
// refuses, as far as it can tell.
func EstimateBytes(c *corpus.Corpus, o Options) (building, matrix int64) {
	m, err := expected(c, o)
	if err != nil {
		return 0, 0
	}
	rows := int64(m.Rows())
	var keepBits, long int64
	for i, n := range m.totals {
		if n > uint64(m.lengths[i]) {
			keepBits, long = keepBits+int64(n), long+1
		}
	}
	matrix = int64(m.Stored())*idBytes(m.Rows()) + bytesPerRow*rows
	spans := int64(spanCount(c, &o, math.MaxInt64)) * (8*rows + 4*long) // starts, kept
	perThread := int64(o.threads()) * 3 * 8 * rows                      // places, found
	return matrix + spans + perThread + keepBits/8 + 8*rows, matrix
}

// Guess returns a matrix with rows as long as Build would make them, as far as the counts of the words and a small part of
// the text tell. Its contexts are drawn by frequency. Training on it takes as long as on the matrix of the text, so it
// serves to measure that without a pass over the text.
func Guess(c *corpus.Corpus, o Options) (*Matrix, error) {
	m, err := expected(c, o)
	if err != nil {
		return nil, err
	}
	copy(m.contextCounts, m.totals)
	if err := m.layOut(); err != nil {
		return nil, err
	}
	weights := make([]float64, m.Rows())
	for i, n := range m.totals {
		weights[i] = float64(n)
	}
	contexts, err := corpus.NewAlias(weights)
	if err != nil {
		return nil, err
	}
	drawn := make([]uint32, 1<<18) // then they repeat
	for i := range drawn {
		drawn[i] = contexts.Draw(corpus.Philox(o.Seed, corpus.StreamEstimate, uint64(i))[0])
	}
	m.allocate()
	for i := range m.narrow {
		m.narrow[i] = uint16(drawn[i%len(drawn)])
	}
	for i := 0; i < len(m.wide); i += len(drawn) {
		copy(m.wide[i:], drawn)
	}
	return m, nil
}
