package cluster

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
)

// An MPILibrary is the MPI library in use.
type MPILibrary struct {
	ABI     string `json:"abi"`     // one of three: Open MPI, MPICH, MPI 5
	File    string `json:"file"`    // as the system's loader found it
	Version string `json:"version"` // in its own words
}

// launchers are the variables that launchers set. SLURM_NTASKS is none of them: a batch
// script also has it before srun.
var launchers = []struct{ name, rank, size string }{
	{"mpirun of Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
	{"mpiexec (PMI)", "PMI_RANK", "PMI_SIZE"},
	{"mpirun of MVAPICH", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},
	{"srun", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS"},
}

// MPIVariable names the variable of the environment that says how ranks find each other:
// "off" makes each process a run of its own, another value is the MPI library to load.
const MPIVariable = "W2VCL_MPI"

// A Process is the [Comm] of this process. All call Close after their last call.
type Process interface {
	Comm
	Close() error
}

// Start joins the processes of a launcher. Those of torchrun wait for each other until the context ends.
func Start(ctx context.Context, l Launch, o TCPOptions) (Process, error) {
	switch {
	case l.Err != nil:
		return nil, l.Err
	case l.Address != "":
		return StartTCP(ctx, l, o)
	}
	return StartMPI(l)
}

// A Launch is what a launcher (mpirun, srun, torchrun) tells a process that it started.
type Launch struct {
	Launcher   string // in messages; "": there is none
	Rank, Size int
	Address    string // of the host of rank 0, for [TCP]; "": ranks find each other by MPI
	Port       int    // there
	Err        error  // what the launcher tells is wrong
}

// Launched returns how this process was started. The zero [Launch] means a process
// without a launcher, or with [MPIVariable] off.
func Launched() Launch {
	if os.Getenv(MPIVariable) == "off" {
		return Launch{}
	}
	if l := torchrun(); l.Launcher != "" { // mpirun or srun may have started torchrun
		return l
	}
	for _, l := range launchers {
		size, err := strconv.Atoi(os.Getenv(l.size))
		if err != nil || size < 1 {
			continue
		}
		rank, _ := strconv.Atoi(os.Getenv(l.rank))
		return Launch{Launcher: l.name, Rank: rank, Size: size}
	}
	return Launch{}
}

// torchrun returns what torchrun, and others like it, tell by four variables. Less than all may be in a shell by accident.
func torchrun() Launch {
	rank, size, address, port := os.Getenv("RANK"), os.Getenv("WORLD_SIZE"), os.Getenv("MASTER_ADDR"), os.Getenv("MASTER_PORT")
	if rank == "" || size == "" || address == "" || port == "" {
		return Launch{}
	}
	l := Launch{Launcher: "torchrun (RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT)", Address: address}
	var errs [3]error
	l.Rank, errs[0] = strconv.Atoi(rank)
	l.Size, errs[1] = strconv.Atoi(size)
	l.Port, errs[2] = strconv.Atoi(port)
	if errors.Join(errs[:]...) != nil || l.Rank < 0 || l.Rank >= l.Size || l.Port < 1 || l.port() > math.MaxUint16 {
		l.Err = fmt.Errorf("RANK=%s, WORLD_SIZE=%s and MASTER_PORT=%s are not a rank, a number of ranks and a port", rank, size, port)
	}
	return l
}

// CheckBinding returns a warning if the launcher gave a rank of several one processor of
// many, "" otherwise: all its threads would share that one. used is how many processors
// the process may use, processors how many the host has, threads how many threads were
// asked for, 0 if nothing was.
func (l Launch) CheckBinding(used, processors, threads int) string {
	if l.Launcher == "" || l.Address != "" || used > 1 || processors == 1 || threads == 1 {
		return ""
	}
	return fmt.Sprintf("the launcher binds rank %d to one of %d processors, and all its threads with it: start with '--bind-to none' (Open MPI) or '--cpus-per-task' (srun), or give --threads 1", l.Rank, processors)
}
