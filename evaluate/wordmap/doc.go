// Package wordmap draws word vectors as a map: near words lie together.
//
// Start at [New], which places the words and finds their neighbours. [Map.WriteHTML]
// makes a page to search and to walk about in, [Map.WriteSVG] a picture.
//
// The words are placed by a projection (pca.go), in which distances shrink and directions
// stay, and by t-SNE (tsne.go), which keeps neighbourhoods: t-distributed stochastic
// neighbour embedding (L. van der Maaten and G. Hinton 2008), with the forces between
// distant places by a tree (L. van der Maaten, Accelerating t-SNE using Tree-Based
// Algorithms, JMLR 15, 2014). affinity.go has the probabilities of neighbours, tree.go the
// forces. Results are the same for any number of processors.
package wordmap
