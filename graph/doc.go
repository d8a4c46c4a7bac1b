// Package graph trains W2V-CL and its baseline W2V-Vanilla as Gorgonia expression graphs.
//
// Start with CBOW (cbow.go), the default, or CL (cl.go), which is the W2V-CL paper's skip-gram. Their build makes
// the graph of an iteration, and Advance runs it. docs/graph.md has its picture. Vanilla (vanilla.go) trains
// minibatches of pairs in the order of the text.
//
// # What to know before changing the step
//
// This is for the default, CBOW of n-grams, weighted by position. An item names the place that says it all.
//
//  1. The graph is the iteration (iteration.go). Edges alone say the order. The result of work is a
//     matrix that it changed in place, or one that a constructor took from the account of memory.
//  2. Two steps without conflicts (cbow.go). Step 1 moves C against frozen h. Step 2 takes the gradient
//     of h against the new C. Both have the h of the W that the iteration began with.
//  3. The stretch lists what the iteration trains on (step.Sampler): in step 1 a row for each word,
//     with its places as samples; in step 2 a row for each place, with its word as the sample. Nothing
//     else takes part in the iteration.
//  4. The loss of negative sampling (package step): each sample against K negatives, here H shared ones
//     of weight K/H, drawn from the stretch. That is why scores have the bias -log K. A row has the
//     gradient of the mean over its samples.
//  5. The way back through windows (windows.go) is no derivative: a word gets the mean of the gradients
//     of the windows that its places are in. Weights of positions (positions.go) move along the derivative.
//  6. A composed row is a mean of n-grams (kernels/composed/compose.go). Composing, the gradient of an
//     n-gram, joining n-grams that move alike, and the means of words that the vocabulary does not have
//     are one map, in every mode; they change together.
//  7. How a row moves (table.go): at most once in an iteration, by the table's optimizer, along the
//     mean gradient of so many samples. The table counts how often; words' own rows move as often as
//     those of C.
//  8. One worker makes a row, place or part (Each in internal/team), and sums in one order, so that any
//     number of threads gives the same bits. In a step, the shared negatives of a strip of rows come
//     first, then samples, in chunks (step.Step): the scores of a row are never all there at once.
//     Step.Give gets the gradient of each row.
//
// Skip-gram also uses package step. GPUs have their own code for this step (kernels/cuda/cl): change both, or let
// device.CheckCBOW refuse what GPUs do not have.
//
// Tests compare an iteration with its definition in plain Go (plainstep_test.go, cbow_test.go) and with
// Gorgonia's own operations (stock_test.go).
package graph
