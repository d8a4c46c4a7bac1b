// Package textcnn is a small convolutional network that tells classes of
// sentences apart by the vectors of their words (Kim 2014, "CNN-static"): word
// vectors stay as they are, so that what it learns says what is in them.
//
//	sentence (L, N) ── filters of 3, 4 and 5 words ── largest over the sentence
//	   ── ReLU ── dropout ── one layer ── softmax
//
// The network is a Gorgonia graph (network.go) whose first layer is an
// operation of its own (convolution.go); Gorgonia differentiates it. Start at
// [Evaluate].
package textcnn
