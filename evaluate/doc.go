// Package evaluate scores word vectors against human judgements: word
// similarity, word analogies and categories of words; and vectors of a graph's
// nodes by the nodes' labels and edges. Coverage is part of every result, because
// a score without it cannot be compared.
//
// Start at [Run], which finds the data sets in a folder and scores them all.
// Similarity is in similarity.go and correlation.go; analogy questions are
// read in analogy.go and answered in solve.go (3CosAdd, 3CosMul) and lrcos.go;
// categories are in categorization.go and kmeans.go. Of graphs, [Nodes] is in
// nodes.go and labels.go, [Links] in links.go. What learns is logistic.go and
// softmax.go, both by newton.go. Classes of sentences, [Classification], by a small
// network on the vectors, are in classification.go. files.go finds the sets of a
// folder, dataset.go tells which of them are the same.
//
// [RunItems] gives the outcomes of single pairs and questions, from which
// [NewBootstrap] tells differences from chance (significance.go). The losses of
// frequent and rare words are in bands.go.
//
// Under the default [Options] the scores are those of gensim 4's
// evaluate_word_pairs and evaluate_word_analogies with restrict_vocab not
// below the vocabulary and dummy4unknown=False; testdata/gensim/compare.py
// shows it.
package evaluate
