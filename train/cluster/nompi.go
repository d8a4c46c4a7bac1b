//go:build !mpi

package cluster

import "fmt"

// StartMPI refuses: the program was built without MPI, and all processes would write what one is to write.
func StartMPI(l Launch) (Process, error) {
	return nil, fmt.Errorf("%s started %d processes, and this program was built without MPI: each would write the same files. "+
		"Build it with -tags mpi, start it by torchrun, or start one process; if each process is a run of its own, set %s=off", l.Launcher, l.Size, MPIVariable)
}

// FindMPI refuses, too.
func FindMPI() (MPILibrary, error) {
	return MPILibrary{}, fmt.Errorf("this program was built without MPI: build it with -tags mpi, or start ranks by torchrun")
}
