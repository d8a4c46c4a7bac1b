// Package sentences scores word vectors by how well a small network learns classes of
// sentences from them. Start at [Score]. Package dataset reads the sets.
//
// # The networks
//
// The vectors stay as they are, so that accuracy says how much is in them. Most sets are
// learnt by a CNN:
//
//	sentence (L, N) ── filters of 3, 4 and 5 words ── largest over the sentence
//	   ── ReLU ── dropout ── one layer ── softmax
//
// The layers are those of "CNN-static" (Kim 2014, section 2). Sizes and training
// are ours: 32 filters of each width, not 100; Adam, not Adadelta; no limit on the
// norm of the weights; zeros for unknown words, not random vectors; at most 15
// epochs.
//
// For relations between two words of a sentence (networkOptions.Places), each word's vector
// is followed by its distances from both, as in Zeng et al. 2014, section 3.4.2: one of
// eleven places each is 1, so that filters learn what a distance means.
//
// Reviews are learnt by an LSTM:
//
//	text (L, N) ── LSTM of 100 units, its last state ── dropout ── one layer ── softmax
//
// The LSTM (Hochreiter and Schmidhuber 1997, with a forget gate) reads the last
// words of a long text.
//
// A network is a Gorgonia graph (network.go), which Gorgonia differentiates. The CNN's first
// layer is an operation of its own (convolution.go), the LSTM has stock operations only
// (recurrent.go).
package sentences
