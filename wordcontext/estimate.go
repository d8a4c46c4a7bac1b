package wordcontext

import "github.com/w2vcl/w2vcl/corpus"

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

// EstimateBytes estimates the memory that Build needs at its peak, in bytes, with
// the matrix and without the corpus. It allocates 24 bytes a word at most, and
// reads only the counts of the words. The estimate tends to be too high: it ignores the ends of
// sentences, which make rows shorter. It is 0 for options or a corpus that Build
// refuses, as far as it can tell.
func EstimateBytes(c *corpus.Corpus, o Options) int64 {
	if o.check() != nil || checkCorpus(c) != nil {
		return 0
	}
	rows := int64(c.Vocabulary.Len())
	totals := make([]uint64, rows)
	for i, n := range EstimateContexts(c.Vocabulary, o) {
		totals[i] = uint64(n)
	}
	defining := o.defining()
	lengths, err := rowLengths(totals, &defining)
	if err != nil {
		return 0
	}
	var stored, keepBits, long int64
	for i, n := range totals {
		if length := uint64(lengths[i]); n > length {
			keepBits, long = keepBits+int64(n), long+1
			n = length
		}
		stored += int64(n)
	}
	idBytes := int64(4)
	if isNarrow(int(rows)) {
		idBytes = 2
	}
	matrix := stored*idBytes + bytesPerRow*rows
	spans := int64(spanCount(c, &o)) * (8*rows + 4*long) // starts, kept
	perThread := int64(o.threads()) * 3 * 8 * rows       // places, found
	return matrix + spans + perThread + keepBits/8 + 8*rows
}
