//go:build unix

package early

import (
	"os"
	"syscall"
)

// launcherSignals are what a launcher stops processes with, as in package terminal.
var launcherSignals = []os.Signal{syscall.SIGTERM, syscall.SIGUSR2}
