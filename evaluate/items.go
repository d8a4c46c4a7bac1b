package evaluate

// Items are the outcomes of a table on the single items of a data set, in the
// order of the file. The set's score follows from them, and a [Bootstrap] says
// how far it depends on chance.
type Items struct {
	Task    string
	Dataset string
	Metric  string // MetricSpearman, or the method of analogies

	// Values holds the cosine of each pair, or 1 for a right answer to a question
	// and 0 for a wrong one; NaN if a word is not in the table.
	Values []float64
	// Human holds the judgements of the pairs; nil for questions.
	Human []float64
}
