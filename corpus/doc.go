// Package corpus turns text into what training reads: word ids, a vocabulary
// and sentence bounds. It also holds the project's one source of randomness and
// what is drawn from it with the vocabulary's counts: subsampling and negatives.
//
// Start with Read, which makes a Corpus of a file, a folder or standard input.
// The text takes this way through the package:
//
//   - source.go finds the files, knows their formats and decompresses them;
//   - cutter.go cuts the text into blocks, between tokens (tokenizer.go, runes.go);
//   - encode.go splits blocks into tokens and numbers these by a table of words
//     (table.go), in parallel;
//   - merge.go merges the tables into a Vocabulary;
//   - read.go is the whole, and writes the tokens and sentences of the Corpus.
//
// The result is the same for any number of threads.
//
// For randomness, start with Philox (random.go), then KeepThresholds
// (subsample.go) and Alias (alias.go).
package corpus
