// Package corpus turns text into the input of training: word ids, a vocabulary and
// sentence bounds. It is also the home of all randomness: Philox, the list of its
// streams, subsampling and the distribution of negatives.
//
// Start at [Open], which makes a [Corpus] of a file, a folder or standard input, in memory or, where [Storage] says so, in a
// file for a text that memory is too small for, and uses that again (identity.go says when). Package wordcount splits the text, counts its words and
// numbers them; package encoded holds the sentences, here or there. [ReadLines] hands out the
// tokens line by line and keeps no text.
//
// The result is the same for any number of threads and any limit of memory.
//
// For randomness, start at [Philox] (random.go), then read [KeepThresholds]
// (subsample.go), [SentenceReader] (sentences.go) and [Alias] (alias.go).
package corpus
