package cluster

import "fmt"

// An Engine makes ranks of the processes that a launcher started; train/cluster/mpi has one. The program's list of them is in cmd/w2vcl/ranks.go.
type Engine struct {
	Name     string // in messages
	Tag      string // the build tag that puts it into the program
	Built    bool   // it is in the program
	Variable string // of the environment: "off" makes each process a run of its own

	Launched func() Launch          // how this process was started; zero: by no launcher of its
	Start    func() (Joined, error) // joins the processes; it may be called once
}

// A Joined is the Comm of processes that an engine has joined.
type Joined interface {
	Comm
	About() string // the library in use, in its own words
	Close() error  // all ranks call it, after their last call
}

// A Launch is what a launcher (mpirun, srun) tells a process that it started.
type Launch struct {
	Launcher   string // in messages; "": there is none
	Rank, Size int
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
