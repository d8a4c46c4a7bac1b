// Package wordcount turns text into numbered words and counts them. A text passes through
// these files:
//
//   - internal/textfile finds the files, recognizes their formats and decompresses them;
//   - cutter.go cuts the text into chunks, between tokens (tokenizer.go, runes.go);
//   - encode.go splits chunks into tokens and numbers these by a table of words
//     (table.go), in parallel;
//   - spill.go writes tables that are full, and codes that are many, to the disk;
//   - merge.go merges the tables into a vocabulary, spilled.go those on the disk;
//   - pieces.go hands out the text with the numbers of the vocabulary.
//
// Start at [Count]. [Lines] hands out the same tokens line by line and keeps no text.
// The result is the same for any number of threads and any limit of memory: no word is
// forgotten and every count is exact.
package wordcount
