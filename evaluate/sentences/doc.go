// Package sentences scores word vectors by how well a small network learns classes of
// sentences from them. Start at [Score]; the network is package evaluate/textnet,
// and package dataset reads the sets.
package sentences
