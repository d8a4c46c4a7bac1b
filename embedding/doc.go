// Package embedding holds trained word vectors: a table of words and rows, the
// file formats of other tools, and nearest neighbours.
//
// Start at [Table]. [Load] recognizes a file's format (detect.go), [Save] writes
// one. Each format has a file of its own (text.go, binary.go, npy.go,
// safetensors.go, projector.go). [Table.Nearest] answers many queries at once.
// Its only arithmetic is the product in nearest.go.
//
// # Formats
//
// V is the number of words, N the dimension. [Load] reads every format, plain or
// compressed with gzip; [Save] writes them plain.
//
//	format       read                                     written
//	text         word2vec text, of word2vec.c or          the same
//	             gensim's save_word2vec_format
//	binary       word2vec binary, of the same tools       as word2vec.c does
//	vec          fastText's .vec, the same as text        the same
//	glove        word2vec text without its first line     the same
//	npy          (V, N) of float32 or float64 in          float32
//	             C order, with a file of words
//	safetensors  tensors "vectors" (float32) and          the same
//	             "words" (bytes); others are skipped
//	projector    TensorBoard's projector: tabs between    metadata of one
//	             values; metadata of one or more columns  column
//	fasttext-bin fastText's model of skip-gram or CBOW:   words alone; package
//	             the vectors of its words                 fasttext writes n-grams
//
// gensim's own files (.kv and .model, which are pickles) and fastText's quantized
// models (.ftz) are neither read nor written. gensim's save_word2vec_format writes
// text or binary. Package fasttext gives unseen words the vectors of a fastText
// model.
//
// # Words
//
// A word is any non-empty valid UTF-8 string, and no word occurs twice. [Load]
// replaces bytes that are not UTF-8 by U+FFFD. Some formats cannot hold every word:
// text, binary, vec and glove cannot hold a space, tab, line break or NUL, projector
// no tab or line break, npy and safetensors no line break. [Save] refuses such a
// word by name and writes nothing.
//
// # Bad files
//
// A header alone allocates nothing: memory grows with the bytes of the file.
// A wrong header, a cut file, a ragged line, NaN, infinity and a word that occurs
// twice are errors. They name the file and the line, word or byte.
package embedding
