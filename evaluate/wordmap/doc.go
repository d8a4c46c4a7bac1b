// Package wordmap draws word vectors as a map: near words lie together.
//
// Start at [New], which places the words; [Map.WriteSVG] draws them.
//
// A projection (map.go) places the words first. From there t-SNE (tsne.go) moves them so that
// neighbourhoods are kept: t-distributed stochastic neighbour embedding (L. van der Maaten and
// G. Hinton 2008). affinity.go has the probabilities of neighbours. Results are the same for
// any number of processors.
package wordmap
