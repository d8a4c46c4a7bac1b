//go:build torture

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"syscall"
	"time"
)

// A disturbance is something that happens to a command.
type disturbance struct {
	name    string
	disk    bool // on a small disk
	folder  bool // or without one
	kills   bool // with SIGKILL
	crashes bool // Go's runtime may end the program, which leaves stacks
	version bool // a rank is another build of the program

	// strike disturbs a running command. What it returns is called when the command
	// has ended.
	strike func(s *suffering, p *os.Process, ended <-chan struct{}) (undo func())
	// limit returns commands of the shell that starts the command instead.
	limit func(random *rand.Rand) []string
}

var disturbances = []disturbance{
	{name: "SIGKILL", kills: true, strike: signals(0, syscall.SIGKILL)},
	{name: "SIGKILL", kills: true, strike: signals(0, syscall.SIGKILL)}, // the worst is tried more often
	{name: "SIGTERM", strike: signals(0, syscall.SIGTERM)},
	{name: "SIGUSR2", strike: signals(0, syscall.SIGUSR2)},
	{name: "two SIGINT", strike: signals(100*time.Millisecond, syscall.SIGINT, syscall.SIGINT)},
	{name: "SIGSTOP, SIGCONT", strike: signals(200*time.Millisecond, syscall.SIGSTOP, syscall.SIGCONT)},
	{name: "SIGSTOP, SIGKILL", kills: true, strike: signals(50*time.Millisecond, syscall.SIGSTOP, syscall.SIGKILL)},
	{name: "full disk", disk: true, strike: fillDisk},
	{name: "read-only", disk: true, folder: true, strike: readOnly},
	{name: "ulimit -v", crashes: true, limit: func(r *rand.Rand) []string {
		return []string{fmt.Sprintf("ulimit -v %d", 1<<10*int(500+900*r.Float64()))}
	}},
	{name: "ulimit -f", limit: func(r *rand.Rand) []string {
		return []string{fmt.Sprintf("ulimit -f %d", r.IntN(60))} // blocks of 512 bytes
	}},
	{name: "ulimit -n", crashes: true, limit: func(r *rand.Rand) []string {
		return []string{fmt.Sprintf("ulimit -n %d", 5+r.IntN(12))}
	}},
	{name: "ranks of two versions", version: true},
}

// anyKind returns the first disturbance of a command. Limits would be those of mpirun.
func (s *suffering) anyKind() disturbance {
	for {
		if kind := disturbances[s.random.IntN(len(disturbances))]; kind.version && s.ranks || !kind.version && (kind.strike != nil || !s.ranks) {
			return kind
		}
	}
}

// anotherKind returns the next disturbance of a command. A disk is there from the start
// or not at all.
func (s *suffering) anotherKind() disturbance {
	for {
		if kind := s.anyKind(); !kind.disk || s.disk {
			return kind
		}
	}
}

// signals sends signals one after the other, with random pauses.
func signals(pause time.Duration, all ...syscall.Signal) func(*suffering, *os.Process, <-chan struct{}) func() {
	return func(s *suffering, p *os.Process, ended <-chan struct{}) func() {
		if s.ranks {
			p = s.anyRank(p)
		}
		for i, signal := range all {
			if i > 0 {
				select {
				case <-ended:
					return func() {}
				case <-time.After(time.Duration(s.random.Float64() * float64(pause))):
				}
			}
			_ = p.Signal(signal) // it may have ended
		}
		return func() {}
	}
}

// fillDisk keeps the disk full until the command has ended.
func fillDisk(s *suffering, _ *os.Process, _ <-chan struct{}) func() {
	return fill(s.t, s.dir)
}

// readOnly makes the disk read-only as soon as no file on it is open for writing, or
// where there is no disk takes the right to write to the folder.
func readOnly(s *suffering, _ *os.Process, ended <-chan struct{}) func() {
	if !s.disk {
		must := func(err error) {
			if err != nil {
				s.t.Error(err)
			}
		}
		must(os.Chmod(s.dir, 0o555))
		return func() { must(os.Chmod(s.dir, 0o755)) }
	}
	for {
		if syscall.Mount("tmpfs", s.dir, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, "") == nil {
			return func() {
				if err := syscall.Mount("tmpfs", s.dir, "tmpfs", syscall.MS_REMOUNT, ""); err != nil {
					s.t.Error(err)
				}
			}
		}
		select {
		case <-ended:
			return func() {}
		case <-time.After(100 * time.Microsecond):
		}
	}
}
