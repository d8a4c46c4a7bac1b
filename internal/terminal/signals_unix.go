//go:build unix

package terminal

import (
	"os"
	"syscall"
)

// stopSignals ask the program to stop. Schedulers and mpirun pass SIGUSR2 on, and leave
// time to save after it, where they may not after SIGTERM.
var stopSignals = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGUSR2}

// launcherSignals are what a launcher ends or stops processes with.
var launcherSignals = []os.Signal{syscall.SIGTERM, syscall.SIGUSR2}
