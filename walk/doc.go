// Package walk turns a graph into a text: random walks over its nodes, one walk a
// line. Any trainer of word vectors trains vectors of the nodes on it. The walks are
// node2vec's (Grover and Leskovec, KDD 2016); with p = q = 1 they are DeepWalk's
// (Perozzi et al., KDD 2014).
//
// Start at [Read], which reads a [Graph] from a list of edges: layout.go decides how its
// lines are divided, list.go parses them, edges.go numbers the nodes, and build.go makes the
// graph. [Graph.WriteWalks] walks over the graph (walk.go): lockstep.go defines a walk and
// makes many side by side, and step.go makes one step. [Graph.HoldOut] (holdout.go) takes
// edges out of a graph, so that vectors of the nodes can be scored by predicting them.
//
// All random numbers come from Philox. Seed, round and first node determine a walk,
// so it is the same on every device, for any number of threads, and whoever walks it.
package walk
