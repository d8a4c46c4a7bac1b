package cluster

import (
	"fmt"
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

// A Launch is what a launcher (mpirun, srun) tells a process that it started.
type Launch struct {
	Launcher   string // in messages; "": there is none
	Rank, Size int
}

// Launched returns how this process was started. The zero [Launch] means a process
// without a launcher, or with [MPIVariable] off.
func Launched() Launch {
	if os.Getenv(MPIVariable) == "off" {
		return Launch{}
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

// CheckBinding returns a warning if the launcher gave a rank of several one processor of
// many, "" otherwise: all its threads would share that one. used is how many processors
// the process may use, processors how many the host has, threads how many threads were
// asked for, 0 if nothing was.
func (l Launch) CheckBinding(used, processors, threads int) string {
	if l.Launcher == "" || used > 1 || processors == 1 || threads == 1 {
		return ""
	}
	return fmt.Sprintf("the launcher binds rank %d to one of %d processors, and all its threads with it: start with '--bind-to none' (Open MPI) or '--cpus-per-task' (srun), or give --threads 1", l.Rank, processors)
}
