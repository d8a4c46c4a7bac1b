//go:build torture

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/w2vcl/w2vcl/train/cluster/mpi"
)

// mpirun starts two ranks on this host. Those that wait let others run.
var mpirun = []string{"mpirun", "--oversubscribe", "--bind-to", "none", "--mca", "btl", "self,vader,tcp", "--mca", "mpi_yield_when_idle", "1"}

// ranksRun reports whether ranks can be started here.
func ranksRun() bool {
	_, err := exec.LookPath(mpirun[0])
	return err == nil && mpi.Built
}

// anotherVersion, as the last argument, makes the second rank another build of the program.
const anotherVersion = "another version"

// onRanks returns the command that runs a command of the program on two ranks.
func (v *victim) onRanks(args []string) (string, []string) {
	second := v.program
	if n := len(args) - 1; args[n] == anotherVersion {
		args, second = args[:n], v.otherProgram()
	}
	return mpirun[0], slices.Concat(mpirun[1:], []string{"-n", "1", v.program}, args, []string{":", "-n", "1", second}, args)
}

// otherProgram is the program with a byte more, as another build of it.
func (v *victim) otherProgram() string {
	return filepath.Join(v.inputs+".work", "other", filepath.Base(v.program))
}

func (v *victim) makeOtherProgram() error {
	content, err := os.ReadFile(v.program)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(v.otherProgram()), 0o755); err != nil {
		return err
	}
	return os.WriteFile(v.otherProgram(), append(content, 0), 0o755)
}

// prepare lets mpirun run here, and ends the wait for a command that left processes behind.
func (v *victim) prepare(cmd *exec.Cmd) {
	cmd.WaitDelay = 10 * time.Second
	if v.ranks {
		cmd.Env = append(os.Environ(), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	}
}

// anyRank returns one of the ranks that mpirun has started; mpirun itself, if it has not started any.
func (s *suffering) anyRank(mpirun *os.Process) *os.Process {
	var ranks []int
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", mpirun.Pid))
	for _, task := range tasks {
		children, _ := os.ReadFile(task)
		for _, child := range strings.Fields(string(children)) {
			if pid, err := strconv.Atoi(child); err == nil {
				ranks = append(ranks, pid)
			}
		}
	}
	if len(ranks) == 0 {
		return mpirun
	}
	rank, err := os.FindProcess(ranks[s.random.IntN(len(ranks))])
	if err != nil {
		return mpirun
	}
	s.log = append(s.log, fmt.Sprintf("  process %d of %v", rank.Pid, ranks))
	return rank
}
