// Package graph trains W2V-CL and its baseline W2V-Vanilla as Gorgonia
// expression graphs.
//
// Start with CL (cl.go): its Advance is one iteration of W2V-CL (the W2V-CL
// paper, section 3), whose batch is the whole vocabulary. Vanilla (vanilla.go)
// trains minibatches of pairs in the order of the text (section 2.1).
//
// A step runs one small graph in Gorgonia's tape machine. The graph comes in two
// forms that give the same result:
//
//   - FormStock (stockstep.go) uses Gorgonia's own operations and automatic
//     differentiation. It is the readable oracle, but slow.
//   - FormFused is one operation, skipGram (skipgram.go) or pairsStep (pairs.go),
//     that computes loss and gradient in one pass over memory and updates each
//     row while it is in the cache. It is the default.
//
// CBOW (cbow.go) trains on a stretch of the text instead, and its graph is a whole
// iteration (cbowsteps.go).
//
// Rows of W may be composed of n-grams (parts.go; see package kernels/composed), or by
// an Encoder (encoder.go; see package subword), whose gradient Gorgonia derives. To add a
// loss, write an operation like skipGram; operation.go has the parts that operations share.
package graph
