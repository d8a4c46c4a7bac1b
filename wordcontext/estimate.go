package wordcontext

import "github.com/w2vcl/w2vcl/corpus"

// EstimateBytes returns about how much memory Build needs at its peak, the
// matrix included and the corpus not. It allocates little and reads only the
// counts of the words. Sentence ends make rows shorter than it assumes, so it
// is rather too high. Options and corpus that Build refuses need 0 bytes.
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
	bytesEach := int64(4)
	if isNarrow(int(rows)) {
		bytesEach = 2
	}
	matrix := stored*bytesEach + 3*8*rows                // stored, totals, contextCounts, offsets
	spans := int64(spanCount(c, &o)) * (8*rows + 4*long) // starts, kept
	perThread := int64(o.threads()) * 3 * 8 * rows       // places, found
	return matrix + spans + perThread + keepBits/8 + 8*rows
}
