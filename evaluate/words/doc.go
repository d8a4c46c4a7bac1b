// Package words scores word vectors against human judgements: word similarity,
// word analogies and categories of words.
//
// Start at [Score], which scores a table on all sets in a folder. Similarity is in
// similarity.go. The questions of analogies are answered in solve.go (3CosAdd,
// 3CosMul) and lrcos.go, and counted in analogy.go. Categories are in
// categorization.go. [Items] gives the outcomes of single pairs and questions, for
// an evaluate.Bootstrap. The losses of frequent and rare words, [Losses] and
// [Bands], are in bands.go. Package dataset reads the files of the sets.
//
// Under the default [Options] the scores are those of gensim 4's
// evaluate_word_pairs and evaluate_word_analogies with restrict_vocab not
// below the vocabulary and dummy4unknown=False; testdata/gensim/compare.py
// shows it.
package words
