// Package mpi is a [cluster.Comm] of the processes that mpirun or srun started. It calls
// the host's MPI library, which it finds when the program runs, without cgo: Open MPI,
// MPICH and what has its binary interface (Intel MPI, MVAPICH), and libraries with the
// interface of MPI 5. These differ in constants only (abi.go).
//
// The build tag mpi puts it in: calling a library makes the program a dynamic one. Without
// the tag Start refuses, and Built is false.
package mpi

// A Library is the MPI library in use.
type Library struct {
	ABI     string `json:"abi"`     // one of three: Open MPI, MPICH, MPI 5
	File    string `json:"file"`    // as the system's loader found it
	Version string `json:"version"` // in its own words
}
