// Package wordcontext builds the word-context matrix M of W2V-CL (section 3 of
// the paper): for every word of the vocabulary exactly l context words, drawn
// from the windows around the word's occurrences. Training then reads M column
// by column and never sees the text again.
//
// # What M is
//
// The text is scanned once, or several times with subsampling ("passes"). Each
// occurrence of word i gives one context for each other word within the
// window. They are numbered 0, 1, ... n_i-1 in the order of the text, pass after
// pass.
//
//   - n_i > l: l of them are kept, every set of l equally likely (sample.go).
//   - The kept contexts of every row are shuffled, every order equally likely.
//   - n_i < l: the row is repeated. Entry (i, j) belongs to round q = j / n_i.
//     Round 0 is the row as it is stored, each later round reads it in a fresh
//     pseudo-random order, which is computed and never stored (permute.go). So
//     within any round each context of the row comes exactly once.
//
// All of this is a function of the text, the options and the seed. The number
// of threads changes nothing.
//
// # Where to start reading
//
// Build in build.go, then Matrix.At in matrix.go, the plain definition of an
// entry. Matrix.Block gives the same entries fast. Save and Open keep M in a
// file that is mapped into memory.
package wordcontext
