// Package evaluate holds what every evaluation of vectors shares: the [Result],
// which is a score beside its coverage, because a score without it cannot be
// compared; the [Lookup] of a set's words in a table; correlations; and the
// [Bootstrap], which tells differences from chance.
//
// The evaluations are the packages below this one. Start at the one that scores
// your data:
//
//	words      similarity, analogies and categories of words; losses by frequency
//	nodes      labels and links of a graph's nodes
//	sentences  classes of sentences, by a small network
//
// Package seeds compares runs with different seeds; wordmap draws words. Dataset finds and
// reads the files of data sets, learn has the classifiers and k-means.
package evaluate
