// Package sequential holds the sentence-ordered trainers: windows slide over
// the sentences of a text and every window changes the tables at once. W2V-CL is
// compared with them, and they are the plain references of the CUDA kernels.
//
// Start with Trainer (trainer.go). Each algorithm has a file of its own, to read
// beside its paper, and is one small type that trains one sentence. It is a line
// in the table of algorithms.go; nothing else in the program lists algorithms:
//
//   - word2vec.go: skip-gram and CBOW with private negatives (Mikolov et al.
//     2013, and the published word2vec.c);
//   - hierarchical.go, huffman.go: the same with hierarchical softmax;
//   - pword2vec.go: negatives shared in a window, a window as small matrix
//     products (Ji et al. 2016, section III-B);
//   - psgnscc.go: several windows combined in one product (Rengasamy et al. 2017);
//   - fullw2v.go: fixed windows in strict order, context rows in a ring buffer
//     (FULL-W2V, sections 3.1 and 3.2);
//   - fullregister.go: the same without the ring buffer (section 3.1);
//   - parw2v.go: attraction, then repulsion in mini-batches (PAR-Word2Vec,
//     section V).
//
// They share sentences and their windows (sentence.go; corpus.SentenceReader draws
// them), negatives (negatives.go), and the update of a window with its loss
// (product.go), whose arithmetic is in package kernels/simd.
//
// W (words) holds the vectors of words as inputs, which are the context words of
// a window. C (contexts) holds the vectors of words as outputs, which are its
// target and its negatives.
//
// # Determinism
//
// The random numbers of a token follow from the seed, the epoch and the token's
// place alone. With one thread every bit of the result does, too. Several threads
// train sentences from different places of the text at the same time and change
// the same tables without locks (Hogwild, Recht et al. 2011); from eight on each
// has copies of the rows that all of them want (copies.go). They meet at the end
// of each unit, when the tables hold everything. The race detector reports that,
// rightly: under it, train with one thread.
package sequential
