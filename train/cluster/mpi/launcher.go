package mpi

import (
	"os"
	"strconv"

	"github.com/w2vcl/w2vcl/train/cluster"
)

// Engine is MPI.
var Engine = cluster.Engine{
	Name: "MPI", Tag: "mpi", Built: Built, Variable: Variable,
	Launched: Launched,
	Start:    func() (cluster.Joined, error) { return Start() },
}

// launchers are the variables that launchers set. SLURM_NTASKS is none of them: a batch
// script also has it before srun.
var launchers = []struct{ name, rank, size string }{
	{"mpirun of Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
	{"mpiexec (PMI)", "PMI_RANK", "PMI_SIZE"},
	{"mpirun of MVAPICH", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},
	{"srun", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS"},
}

// Variable names the variable of the environment that says how ranks find each other:
// "off" makes each process a run of its own, another value is the MPI library to load.
const Variable = "W2VCL_MPI"

// Launched returns how this process was started. The zero [cluster.Launch] means a process
// without a launcher, or with [Variable] off.
func Launched() cluster.Launch {
	if os.Getenv(Variable) == "off" {
		return cluster.Launch{}
	}
	for _, l := range launchers {
		size, err := strconv.Atoi(os.Getenv(l.size))
		if err != nil || size < 1 {
			continue
		}
		rank, _ := strconv.Atoi(os.Getenv(l.rank))
		return cluster.Launch{Launcher: l.name, Rank: rank, Size: size}
	}
	return cluster.Launch{}
}
