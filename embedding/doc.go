// Package embedding holds trained word vectors: the table of words and rows,
// the file formats that other tools read and write, and nearest neighbours.
//
// Start at [Table]. [Load] finds out a file's format (detect.go), [Save]
// writes one; each format has a file of its own (text.go, binary.go, npy.go,
// safetensors.go, projector.go). [Table.Nearest] answers many queries at once;
// its only arithmetic is the product in product.go.
//
// # Words
//
// A word is any non-empty valid UTF-8 string, and no word occurs twice.
// Bytes of a file's words that are not UTF-8 are read as U+FFFD. Some formats
// cannot hold every word: word2vec text and binary, .vec and GloVe cannot hold
// a space, tab, line break or NUL, the projector's files no tab or line break,
// npy and safetensors no line break. [Save] refuses such a word by name and
// writes nothing.
//
// # Bad files
//
// Nothing is allocated on a header's word alone: memory follows the bytes that
// were really read. A wrong header, a cut file, a ragged line, NaN, infinity
// and a word that occurs twice are errors that name the file and the line,
// word or byte.
package embedding
