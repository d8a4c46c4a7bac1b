// Package early catches signals to stop that come before the program can act upon them: Go ignores
// SIGUSR2 until somebody asks for it, and initializing all packages takes some milliseconds. Only
// programs import it, because a process in which nobody looks at [Signals] does not end when it is told to.
package early

import (
	"os"
	"os/signal"
)

// Signals are those that came until now, one at most.
var Signals = make(chan os.Signal, 1)

// It imports next to nothing, so Go initializes it among the first packages.
func init() {
	if len(launcherSignals) > 0 { // without any, all would be caught
		signal.Notify(Signals, launcherSignals...)
	}
}
