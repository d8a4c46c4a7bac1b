// Package step computes a step of W2V-CL on the CPU: the mean gradients of rows for their shares of an iteration's samples.
// Skip-gram and CBOW use it.
//
// Start with [Sampler], which lists a row's targets, and [Step.Run]. Package graph makes it
// an operation. A [Reader] reads the samples from M.
//
// A sample is a frozen vector, a row of a matrix that the step does not change: the other table,
// or vectors computed before the step. Row i with a share of s samples has the loss
//
//	sum over its samples p of softplus(-(w_i . f_p + b)) + s weight sum over its negatives q of softplus(w_i . f_q + b)
//
// and its gradient is that of this loss, divided by s. The negatives are rows of the same matrix: K of
// the row's own, with weight 1, or H that all rows share, with weight K/H. A row without a share has no
// gradient. With one sample and own negatives for each row, this is the step of the W2V-CL paper (section 3,
// equation 7).
//
// The bias b is 0 in skip-gram. In CBOW it is -log K: products become PMI, as long as negatives come as
// often as words stand in the stretch (see graph.CBOW).
package step
