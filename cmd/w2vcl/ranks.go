package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/w2vcl/w2vcl/cmd/internal/cli"
	"github.com/w2vcl/w2vcl/internal/machine"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/train"
	"github.com/w2vcl/w2vcl/train/cluster"
)

// alone refuses a launcher that started several processes of a command that is for one.
func alone(command string) error {
	if l := cluster.Launched(); l.Size > 1 {
		return terminal.Usagef("%s started %d processes, but %s is a command for one; "+
			"if each process is a run of its own, set %s=off", l.Launcher, l.Size, command, cluster.MPIVariable)
	}
	return nil
}

// startTimeout is how long ranks wait until all have been started.
const startTimeout = 10 * time.Minute

// join makes ranks of the processes that a launcher started.
func join(ctx context.Context, s cli.Streams, l cluster.Launch) (cluster.Process, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("it took longer than %s", startTimeout))
	defer cancel()
	comm, err := cluster.Start(ctx, l, cluster.TCPOptions{
		Version: version(),
		Notef:   func(format string, args ...any) { note(s, l.Rank, fmt.Sprintf(format, args...)) },
		End: func(code int, why string) {
			note(s, l.Rank, why)
			os.Exit(code) //nolint:forbidigo // what trains may be busy for long
		},
	})
	if err != nil && l.Rank > 0 && l.Address != "" { // without MPI no launcher ends the others, so each tells
		note(s, l.Rank, err.Error())
	}
	return comm, err
}

// note prints a message of a rank, with the rank's number unless it is 0.
func note(s cli.Streams, rank int, text string) {
	prefix := "w2vcl: "
	if rank > 0 {
		prefix += fmt.Sprintf("rank %d: ", rank)
	}
	s.Notef("%s", cli.Prefixed(prefix, text))
}

// version is the version of this program. The program's checksum is in it, because programs that were built from
// changed sources have the same name.
func version() string {
	name := cli.Version()
	path, err := os.Executable()
	if err != nil {
		return name
	}
	program, err := os.Open(path)
	if err != nil {
		return name
	}
	defer program.Close()
	sum := xxhash.New()
	if _, err := io.Copy(sum, program); err != nil {
		return name
	}
	return fmt.Sprintf("%s (checksum %016x)", name, sum.Sum64())
}

// together runs a command on the ranks that a launcher started. lead is called with nil
// if there is only this process, or on rank 0; follow on the others.
func together(ctx context.Context, s cli.Streams, threads int, lead func(g *cluster.Group) error, follow func(ctx context.Context, g *cluster.Group) error) error {
	launch := cluster.Launched()
	if launch.Err == nil && launch.Size <= 1 {
		return lead(nil)
	}
	comm, err := join(ctx, s, launch)
	if err != nil {
		return err
	}
	if warning := launch.CheckBinding(runtime.NumCPU(), machine.Processors(), threads); warning != "" {
		s.Notef("w2vcl: Warning: %s", warning)
	}
	g := &cluster.Group{Comm: comm, From: launch.Launcher}
	if launch.Address != "" {
		g.From = "torchrun's variables"
	}
	// It comes before everything else, because another version may take what ranks tell each other for something else.
	err = g.Known(cluster.Same(g, "the version of w2vcl", version()))
	switch {
	case err != nil:
	case comm.Rank() == 0:
		err = lead(g)
	default:
		err = follow(ctx, g)
	}
	if err != nil && !g.Ended { // the others wait for this rank
		code := cli.ExitFailed
		if ctx.Err() != nil && (errors.Is(err, train.ErrInterrupted) || cli.IsCancellation(ctx, err)) {
			code = cli.ExitInterrupted
		}
		if comm.Rank() == 0 || code == cli.ExitFailed {
			note(s, comm.Rank(), err.Error())
		}
		comm.Abort(code)
	}
	// When rank 0 ends with an exit code of its own the launcher may end the others by SIGTERM, as 'srun --kill-on-bad-exit' does, and then
	// takes their death for the end of the job. So none leaves before all ignore that.
	terminal.Finish()
	_, meeting := cluster.Each(comm, 0)
	if closing := errors.Join(meeting, comm.Close()); err == nil {
		err = closing
	}
	if comm.Rank() > 0 {
		return nil // rank 0 tells, and its exit code is that of all
	}
	return err
}
