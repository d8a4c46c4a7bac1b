//go:build !unix

package terminal

import (
	"os"
	"syscall"
)

var stopSignals = []os.Signal{os.Interrupt, syscall.SIGTERM}

var launcherSignals = []os.Signal{syscall.SIGTERM}
