// Package plane places vectors in the plane, so that one can see who is near to whom.
//
// [PCA] is a projection: distances shrink, directions stay. [TSNE] keeps neighbourhoods:
// t-distributed stochastic neighbour embedding (L. van der Maaten and G. Hinton 2008),
// with the forces between distant places by a tree (L. van der Maaten, Accelerating t-SNE
// using Tree-Based Algorithms, JMLR 15, 2014). Results are the same for any number of
// processors.
//
// Start at tsne.go. affinity.go has the probabilities of neighbours, tree.go the forces.
package plane
