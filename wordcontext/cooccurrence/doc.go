// Package cooccurrence counts how often words meet, and trains on these counts: the
// whole-matrix methods that embeddings are compared with.
//
// Start at [Count], which scans the windows of a text once and returns a sparse [Matrix].
// PPMI (ppmi.go) turns it into the positive pointwise mutual information of words and contexts
// (Levy, Goldberg and Dagan 2015, "Improving Distributional Similarity with Lessons
// Learned from Word Embeddings"), which [NewSVD] factors. [NewGloVe] fits the logarithms of the counts
// (Pennington, Socher and Manning 2014, "GloVe: Global Vectors for Word Representation").
//
// All results are the same for any number of threads.
package cooccurrence
