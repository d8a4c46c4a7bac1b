// Package walk turns a graph into a text: random walks over its nodes, one walk a
// line. Any trainer of word vectors trains vectors of the nodes on it. The walks are
// node2vec's (Grover and Leskovec, KDD 2016); with p = q = 1 they are DeepWalk's
// (Perozzi et al., KDD 2014).
//
// Start at [Read], which reads a [Graph] from an edge list or a MATLAB file (read.go,
// graph.go), and [Graph.WriteWalks], which walks over it (walk.go). One step of a
// walk is in step.go. [Graph.HoldOut] (holdout.go) takes edges out of a graph, so
// that vectors of the nodes can be scored by predicting them.
//
// All random numbers come from Philox. Seed, round and first node determine a walk,
// so the text is the same for any number of threads.
package walk
