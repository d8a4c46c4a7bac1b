// Package graph holds the models as Gorgonia expression graphs: the two-step
// W2V-CL graph, whose batch is the whole vocabulary, and the minibatch
// W2V-Vanilla graph it is compared with.
//
// Start with CL (twostep.go): its Advance is one iteration of W2V-CL
// (the W2V-CL paper, section 3). Each of the two steps runs one small
// graph in Gorgonia's tape machine. The graph comes in two forms that give the
// same result:
//
//   - FormStock (stock.go) uses Gorgonia's own operations and automatic
//     differentiation. It is the readable oracle, and slow.
//   - FormFused (skipgram.go) is one operation, SkipGram, that computes loss
//     and gradient in one pass over memory and can update each row while it is
//     in the cache. It is the default.
//
// Vanilla (vanilla.go) trains minibatches of pairs in the order of the text; its
// fused operation is in pairs.go.
//
// An Encoder (encoder.go; package subword has some) takes the place of the word
// table in either model; its gradient comes from Gorgonia. A new loss is an
// operation like SkipGram, on what operation.go has in common.
package graph
