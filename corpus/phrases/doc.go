// Package phrases finds phrases in a text, such as "New York", and joins their words
// to one token, so that training gives the phrase a vector (Mikolov et al. 2013,
// Distributed Representations of Words and Phrases, section 4; word2phrase.c).
//
// Start at [Learner]: it counts words and pairs of a text, and scores the pairs. The
// result is one [Pass]. Longer phrases need several passes, each over the text that
// the passes before have joined. A [List] holds the passes; it is kept in a file and
// applied to any text.
package phrases
