package wordcontext

import "github.com/w2vcl/w2vcl/corpus"

// EstimateBytes estimates the memory that Build needs at its peak, in bytes, with
// the matrix and without the corpus. It allocates little and reads only the
// counts of the words. The estimate tends to be too high: it ignores the ends of
// sentences, which make rows shorter. It is 0 for options or a corpus that Build
// refuses.
func EstimateBytes(c *corpus.Corpus, o Options) int64 {
	if o.check() != nil || checkCorpus(c) != nil {
		return 0
	}
	rows := int64(c.Vocabulary.Len())
	perToken := float64(2*o.Window) * float64(o.Passes)
	if o.DynamicWindow {
		perToken = float64(o.Window+1) * float64(o.Passes) // on average
	}
	var thresholds []uint32
	if o.Sample > 0 {
		thresholds = corpus.KeepThresholds(c.Vocabulary.Counts, o.Sample)
	}
	var stored, keepBits, long int64
	for i, count := range c.Vocabulary.Counts {
		n := int64(float64(count) * perToken)
		if thresholds != nil {
			n = int64(float64(n) * float64(thresholds[i]) / (1 << 32))
		}
		if n > int64(o.Contexts) {
			n, keepBits, long = int64(o.Contexts), keepBits+n, long+1
		}
		stored += n
	}
	idBytes := int64(4)
	if isNarrow(int(rows)) {
		idBytes = 2
	}
	matrix := stored*idBytes + 3*8*rows                  // stored, totals, contextCounts, offsets
	spans := int64(spanCount(c, &o)) * (8*rows + 4*long) // starts, kept
	perThread := int64(o.threads()) * 3 * 8 * rows       // places, found
	return matrix + spans + perThread + keepBits/8 + 8*rows
}
