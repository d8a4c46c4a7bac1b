// Package graph trains W2V-CL and its baseline W2V-Vanilla as Gorgonia expression graphs.
//
// Start with CBOW (cbow.go), the default, or CL (cl.go), which is the W2V-CL paper's skip-gram. Their build makes
// the graph of an iteration, and Advance runs it. docs/graph.md has its picture. Vanilla (vanilla.go) trains
// minibatches of pairs in the order of the text.
//
// # What to know before changing the step
//
//  1. The graph is the iteration (iteration.go). Nodes are tables, operations of Gorgonia, and work of ours.
//     Edges alone say the order. Work may change a table in place: its result is the same table.
//  2. Two steps without conflicts (cl.go, cbow.go). A step moves rows of one table against frozen vectors. A row
//     moves by the mean over its samples, once.
//  3. The sampler (step/sampler.go) lists the rows of a step, their samples and negatives. All nodes of an
//     iteration read the same lists. In CBOW they are of a stretch of the text (wordcontext.Stretch).
//  4. The loss of negative sampling (skipgram.go, step/step.go): each row's samples against K negatives of its
//     own, or H shared ones of weight K/H; in CBOW with the bias -log K. Its node either updates a table (train),
//     or is a loss whose gradient Gorgonia hands on (apply).
//  5. Windows (windows.go) are means of rows. What they send back is no derivative: a word gets the mean of the
//     gradients of all windows that it is in.
//  6. W is made of own rows (wordrows.go), parts (parts.go) or a network (encoder.go). Each adds nodes that
//     compose the rows, and nodes that update what the rows are made of.
//  7. Row optimizers (package optim). A node begins its optimizer with the iteration's number and rate.
//     UpdateMean gets the number of samples, and how often the row was updated, for Adam's bias correction.
//  8. The order of sums is fixed (step/step.go, step/strip.go): blocks of rows, each summed by one thread, so
//     that any number of threads gives the same bits.
//
// Tests compare an iteration with its definition in plain Go (plainstep_test.go, cbow_test.go) and with Gorgonia's
// own operations (stock_test.go).
package graph
