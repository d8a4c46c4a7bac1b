// Package tempered computes a step of tempered W2V-CL: rows of one table move along
// the mean gradients of their shares of samples, against frozen rows of the other.
//
// Start with [Sampler], which says what a row meets, and [Loss.Run], the step. Package
// graph makes an operation of it. A [Reader] reads the samples from M.
//
// A row i with a share of s samples has the loss
//
//	sum over its positives p of softplus(-w_i . c_p) + s weight sum over its negatives q of softplus(w_i . c_q)
//
// and moves along its gradient, divided by s. The negatives are K of the row's own,
// of weight 1, or H that all rows share, of weight K/H. A row without a share is left
// alone.
package tempered
