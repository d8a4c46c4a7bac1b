// Package walk makes texts of graphs: random walks over the nodes, one walk a
// line, on which any trainer of words trains vectors of nodes (DeepWalk: Perozzi
// et al. 2014; node2vec: Grover and Leskovec 2016).
//
// Start with Read, which makes a Graph of an edge list or a MATLAB file
// (read.go, graph.go), and Graph.Write, which walks over it (walk.go). One step
// of a walk is in step.go. Graph.HoldOut (holdout.go) takes edges out of a
// graph, to ask vectors of nodes for them later.
//
// All randomness is Philox's: what a walk does follows from seed, round and the
// node that it begins at, so the text is the same for any number of threads.
package walk
