// Package wordcontext builds the word-context matrix M of W2V-CL (section 3 of
// the paper). M has V rows, one for each word of the vocabulary, and l columns.
// Entry (i, j) is the id of a word that stands in a window around an occurrence
// of word i. Training reads M column by column and never reads the text again.
//
// # What M is
//
// Build scans the text once, or in several passes with fresh random numbers for
// subsampling and window sizes. Each occurrence of word i gives one context for
// each other word within its window. Over all passes, row i has n_i contexts.
// They are numbered 0, 1, ... n_i-1 in the order of the text, pass after pass.
//
//   - n_i > l: the row keeps l contexts, every set of l equally likely
//     (choose.go).
//   - The kept contexts of every row are shuffled, every order equally likely.
//   - n_i < l: the row repeats its contexts. Entry (i, j) belongs to round
//     q = j / n_i, rounded down. Round 0 is the row as it is stored. Each later
//     round reads it in a fresh pseudo-random order, which is computed and never
//     stored (permute.go). So each context of the row comes exactly once in
//     every round.
//
// M depends on the text, the options and the seed alone. The number of threads
// changes nothing.
//
// # Where to start reading
//
// Start at Build in build.go. Then read Matrix.At in matrix.go, the plain
// definition of an entry. Matrix.Columns gives the same entries fast. Save and
// Open keep M in a file that is mapped into memory.
package wordcontext
