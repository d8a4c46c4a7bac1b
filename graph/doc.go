// Package graph trains W2V-CL and its baseline W2V-Vanilla as Gorgonia expression graphs.
//
// Start with CBOW (cbow.go), the default, or CL (cl.go), which is the W2V-CL paper's skip-gram. Their build makes
// the graph of an iteration, and Advance runs it. docs/graph.md has its picture. Vanilla (vanilla.go) trains
// minibatches of pairs in the order of the text.
//
// # What to know before changing the step
//
// This is for the default, CBOW of n-grams. An item names the place that says it all.
//
//  1. The graph is the iteration (iteration.go). Edges alone say the order. Work may change a matrix in place: its
//     result is the same matrix.
//  2. Two steps without conflicts (cbow.go). Step 1 moves C against frozen h. Step 2 takes the gradient of h against
//     the new C. Both have the h of the W that the iteration began with.
//  3. The stretch lists what the iteration trains on (step.Sampler): in step 1 a row for each word, with its places
//     as samples; in step 2 a row for each place, with its word as the sample. Nothing else is of the iteration.
//  4. The loss of negative sampling (package step): each sample against K negatives, here H shared ones of weight K/H.
//     A row has the gradient of the mean over its samples.
//  5. The way back through windows (windows.go) is no derivative: a word gets the mean of the gradients of the
//     windows that it is in.
//  6. A composed row is a mean of n-grams (kernels/composed/compose.go). Composing, the gradient of an n-gram, and
//     joining n-grams that move alike are one map; they change together.
//  7. How a row moves (table.go): once in an iteration, by the table's optimizer, which knows how often it has moved.
//  8. One worker makes a row, place or part, and sums in the order of its list (team.Team), so that any number of
//     threads gives the same bits.
//
// The kernels of package simd say themselves what they compute and what they do not check. Gorgonia differentiates in
// encoder.go alone, between an encoder's rows and its parameters.
//
// Tests compare an iteration with its definition in plain Go (plainstep_test.go, cbow_test.go) and with Gorgonia's
// own operations (stock_test.go).
package graph
