// Package nodes scores vectors of a graph's nodes by two things that are known of the
// graph: the nodes' labels and its edges.
//
// Start at [ScoreLabels] (classify.go; its cross-validation over pairs is in
// folds.go, its F1 in confusion.go), whose labels [ReadLabels] reads, and at
// [ScoreLinks] (links.go), whose pairs of nodes [ReadLinks] reads.
package nodes
