// Package ladder is the way from the published kernels to fullw2v.cu: a kernel for each step,
// kept to be read and measured. No program imports it and no run trains with it; tests of
// package sentence launch its kernels in place of their own.
//
// The rungs take the arguments of fullw2v.cu and have one shape: N = 128, K = 5, and W_f = 3
// or 5. Tests compare so much: with one sentence in flight, two epochs of 1,500 words end with as
// many pairs as on one thread of the CPU (sequential.FullW2V), and with its loss, its W and
// its C to a relative difference of 1e-4 (of a table, the norm of the difference by the
// norm). With more sentences in flight results differ: ring, warp and joint write rows of W
// back, where fullw2v.cu adds the change.
//
// fullw2v.cu is the fifth rung, fullw2v_half.cu the sixth.
package ladder

import "embed"

// Built has the kernels: ladder_R_W for rung R and radius W.
//
//go:embed built
var Built embed.FS

// The shape that the rungs are for.
const (
	Dim       = 128
	Negatives = 5
)

// A Rung is how a kernel is launched: a thread block trains a sentence.
type Rung struct {
	Name    string // of the source and in kernels
	Threads int    // of a thread block
	Slot    int    // bytes of shared memory for each slot of the ring of rows
}

// Rungs are all, from the published kernels on.
var Rungs = []Rung{{"register", Dim, 0}, {"ring", Dim, 0}, {"warp", 32, 512}, {"joint", 32, 0}}
