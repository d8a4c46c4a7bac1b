// Package corpus turns text into the input of training: word ids, a vocabulary and
// sentence bounds. It is also the home of all randomness: Philox, the list of its
// streams, subsampling and the distribution of negatives.
//
// Start at [Read], which makes a [Corpus] of a file, a folder or standard input. A
// text passes through these files:
//
//   - internal/textfile finds the files, recognizes their formats and decompresses them;
//   - cutter.go cuts the text into chunks, between tokens (tokenizer.go, runes.go);
//   - encode.go splits chunks into tokens and numbers these by a table of words
//     (table.go), in parallel;
//   - merge.go merges the tables into a [Vocabulary];
//   - read.go runs these steps and writes tokens and sentences of the Corpus.
//
// [ReadLines] hands out the same tokens line by line and keeps no text (lines.go).
//
// The result is the same for any number of threads.
//
// For randomness, start at [Philox] (random.go), then read [KeepThresholds]
// (subsample.go), [SentenceReader] (sentences.go) and [Alias] (alias.go).
package corpus
