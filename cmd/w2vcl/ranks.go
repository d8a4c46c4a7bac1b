package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/w2vcl/w2vcl/cluster"
	"github.com/w2vcl/w2vcl/cluster/mpi"
	"github.com/w2vcl/w2vcl/cmd/internal/cli"
	"github.com/w2vcl/w2vcl/internal/machine"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/train"
	"github.com/w2vcl/w2vcl/train/ranks"
)

// checkLauncher refuses a launcher that started several processes, all of which would write
// what one is to write.
func checkLauncher(built bool) error {
	l := cluster.Launched()
	switch {
	case l.Size <= 1:
		return nil
	case !built:
		return terminal.Usagef("%s started %d processes, and this program was built without MPI: each would write the same files. Build it with -tags mpi, or start one process; if each process is a run of its own, set %s=off", l.Launcher, l.Size, cluster.Variable)
	default:
		return nil
	}
}

// alone refuses a launcher that started several processes of a command that is for one.
func alone(command string) error {
	if l := cluster.Launched(); l.Size > 1 {
		return terminal.Usagef("%s started %d processes, but %s is a command for one; if each process is a run of its own, set %s=off", l.Launcher, l.Size, command, cluster.Variable)
	}
	return nil
}

// together runs a command on the ranks that a launcher started. lead is called with nil
// if there is only this process, or on rank 0; follow on the others.
func together(ctx context.Context, s cli.Streams, threads int, lead func(g *ranks.Group) error, follow func(ctx context.Context, g *ranks.Group) error) error {
	if err := checkLauncher(mpi.Built); err != nil {
		return err
	}
	launch := cluster.Launched()
	if launch.Size <= 1 {
		return lead(nil)
	}
	comm, err := mpi.Start()
	if err != nil {
		return err
	}
	if comm.Size() != launch.Size {
		comm.Abort(cli.ExitFailed)
		return terminal.Usagef("%s started %d processes, but %s knows of %d: it belongs to another launcher; name the library of this one with %s", launch.Launcher, launch.Size, comm.Library().Version, comm.Size(), cluster.Variable)
	}
	if warning := launch.CheckBinding(runtime.NumCPU(), machine.Processors(), threads); warning != "" {
		s.Notef("w2vcl: Warning: %s", warning)
	}
	g := &ranks.Group{Comm: comm, Version: cli.Version()}
	if comm.Rank() == 0 {
		err = lead(g)
	} else {
		err = follow(ctx, g)
	}
	if err != nil && !g.Ended { // the others wait for this rank
		code := cli.ExitFailed
		if ctx.Err() != nil && (errors.Is(err, train.ErrInterrupted) || cli.IsCancellation(ctx, err)) {
			code = cli.ExitInterrupted
		}
		switch {
		case comm.Rank() == 0:
			s.Notef("%s", cli.Prefixed("w2vcl: ", err.Error()))
		case code == cli.ExitFailed:
			s.Notef("%s", cli.Prefixed(fmt.Sprintf("w2vcl: rank %d: ", comm.Rank()), err.Error()))
		}
		comm.Abort(code)
	}
	// When rank 0 ends with an exit code of its own the launcher may end the others by SIGTERM, as 'srun --kill-on-bad-exit' does, and then
	// takes their death for the end of the job. So none leaves before all ignore that.
	terminal.Finish()
	if closing := errors.Join(comm.Barrier(), comm.Close()); err == nil {
		err = closing
	}
	if comm.Rank() > 0 {
		return nil // rank 0 tells, and its exit code is that of all
	}
	return err
}
