// Package wordcontext builds the word-context matrix M of W2V-CL (section 3 of
// the paper). M has V rows, one for each word of the vocabulary. Row i has l_i
// entries, each the id of a word that stands in a window around an occurrence of word
// i. Each iteration of training reads some entries of the rows, and never the text.
//
// # What M is
//
// Build scans the text once, or in several passes with fresh random numbers for
// subsampling and window sizes. Each occurrence of word i gives one context for
// each other word within its window. Over all passes, row i has n_i contexts.
// They are numbered 0, 1, ... n_i-1 in the order of the text, pass after pass.
//
//   - n_i > l_i: the row keeps l_i contexts, every set of l_i equally likely
//     (choose.go).
//   - The kept contexts of every row are shuffled, every order equally likely. With
//     Options.InOrder they stay in the order of the text, to see what shuffling is for.
//   - n_i < l_i: the row repeats its contexts. Entry (i, q) belongs to round
//     r = q / n_i, rounded down. Round 0 is the row as it is stored. Each later
//     round reads it in a fresh pseudo-random order, which is computed and never
//     stored (order.go). So each context of the row comes exactly once in
//     every round. Rows of different length, see below, keep the stored order in
//     every round: other contexts are read together than in the round before, and
//     an entry costs half as much.
//
// # What an iteration reads
//
// An epoch has l iterations, and each of the two steps of an iteration reads every
// row. In the paper every row has l entries, and an iteration reads one of each: a
// column of M. So a frequent word has no more samples than a rare one. With
// Options.Tempering they grow with a power of n_i, and Options.Positives is their
// mean over the rows: a row then has l_i = l·a_i entries (lengths.go), and an
// iteration reads a_i of them, rounded down or up.
//
// Which ones it reads is its share of the row. Rows have phases f_i, random numbers
// below l, so that they do not all round up in the same iterations. The share of
// row i in iteration j, counted over all epochs, is in step 0
//
//	the entries (i, p mod l_i) for (j·l_i + f_i)/l <= p < ((j+1)·l_i + f_i)/l
//
// with both bounds rounded down, and in step 1 the entries l_i/2 further. So each step
// reads every entry once in an epoch. Without tempering and with one positive, step 0
// reads column j mod l, and step 1 column (j + l/2) mod l.
//
// The samples of an iteration stand in S slots: row i has as many as its largest
// share. A slot that a share leaves empty holds NoSample.
//
// M depends on the text, the options and the seed alone. The number of threads
// changes nothing.
//
// # Where to start reading
//
// Start at Build in build.go. Then read Matrix.At in matrix.go and Matrix.Share in
// samples.go, the plain definitions of an entry and a share. Matrix.Samples gives the
// same entries fast. Save and Open keep M in a file that is mapped into memory;
// BuildFile and OpenBounded serve an M that is larger than the memory. The file tiles.go has the
// order of the contexts in a file.
package wordcontext
