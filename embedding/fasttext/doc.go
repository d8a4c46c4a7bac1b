// Package fasttext reads and writes fastText's models (.bin), which give vectors
// to unseen words, too.
//
// Start at [Model]: [Open] reads a file, [Model.Vectors] are the vectors of its
// words, [Model.Encode] composes the vectors of any words. [Output] is a model to
// write. [Shape] says which n-grams a word has; encoders that want to be written as
// fastText models take them from there.
//
// # Vectors
//
// As in fastText (Bojanowski et al. 2017, and dictionary.cc and fasttext.cc of its
// program), the vector of a word is the mean of its own row and of the rows of its
// character n-grams; an unseen word has the mean of its n-grams, or zeros if it has
// none. All sums are in float32 and in the order of fastText.
//
// # File
//
// All numbers are little-endian. The version is 12; 11 is read, too.
//
//	int32 magic, version
//	int32 dim, window, epochs, min count, negatives, word n-grams, loss, model,
//	      buckets, shortest, longest, rate of updates
//	float64 subsampling threshold
//	int32 entries, words, labels; int64 tokens, pruned n-grams (-1: not pruned)
//	for each entry: the word, a zero byte, int64 count, int8 type (0: word)
//	byte quantized; int64 rows, columns; float32 (words + buckets, dim)
//	byte quantized; int64 rows, columns; float32 (outputs, dim)
package fasttext
