// Package step computes a step of W2V-CL on the CPU: the rows of one table move along the mean
// gradients of their shares of an iteration's samples.
//
// Start with [Sampler], which says what a row meets, and [Step.Run]. Package graph makes an
// operation of it, package graph/split runs it on several ranks. A [Reader] reads the samples from M.
//
// A sample is a frozen vector, a row of a matrix that the step does not change: the other table,
// or vectors that are computed before the step. Row i with a share of s samples has the loss
//
//	sum over its samples p of softplus(-w_i . f_p) + s weight sum over its negatives q of softplus(w_i . f_q)
//
// and moves along the gradient of that, divided by s. The negatives are rows of the same matrix: K of
// the row's own, of weight 1, or H that all rows share, of weight K/H. A row without a share is
// left alone. With one sample a row and negatives of its own, it is the step of the W2V-CL paper
// (section 3, equation 7).
package step
