// Package textcnn is a small convolutional network that tells classes of
// sentences apart by the vectors of their words. The vectors stay as they are, so
// that its accuracy says how much is in them.
//
//	sentence (L, N) ── filters of 3, 4 and 5 words ── largest over the sentence
//	   ── ReLU ── dropout ── one layer ── softmax
//
// The layers are those of "CNN-static" (Kim 2014, section 2). Sizes and training
// are ours: 32 filters of each width, not 100; Adam, not Adadelta; no limit on the
// norm of the weights; zeros for unknown words, not random vectors; at most 15
// epochs.
//
// The network is a Gorgonia graph (network.go) whose first layer is an
// operation of its own (convolution.go); Gorgonia differentiates it. Start at
// [Evaluate].
package textcnn
