package terminal

import (
	"context"
	"os/signal"
)

// Interruptible returns a context that ends with the first Ctrl-C, SIGTERM or, on Unix,
// SIGUSR2. A second Ctrl-C ends the process at once. SIGTERM and SIGUSR2 are ignored then: a
// scheduler that preempts a job repeats SIGTERM within a second, while the job saves. The
// returned function stops catching signals.
func Interruptible(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, restore := signal.NotifyContext(parent, stopSignals...)
	unhook := context.AfterFunc(ctx, func() {
		if parent.Err() == nil {
			Finish()
		}
		restore()
	})
	return ctx, func() {
		unhook()
		restore()
	}
}

// Finish lets a process that has only to leave do so with its own exit code: from here on SIGTERM and SIGUSR2 are ignored. Ctrl-C is not.
func Finish() { signal.Ignore(launcherSignals...) }
