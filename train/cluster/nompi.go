//go:build !mpi

package cluster

import "errors"

// MPIBuilt reports whether this program can use MPI.
const MPIBuilt = false

// MPI joins the processes of a launcher.
type MPI struct{ Comm }

var errNotBuilt = errors.New("this program was built without MPI: build it with -tags mpi")

// StartMPI refuses: the program was built without MPI.
func StartMPI() (*MPI, error) { return nil, errNotBuilt }

// FindMPI refuses, too.
func FindMPI() (MPILibrary, error) { return MPILibrary{}, errNotBuilt }

// About is empty.
func (*MPI) About() string { return "" }

// Close does nothing.
func (*MPI) Close() error { return nil }
