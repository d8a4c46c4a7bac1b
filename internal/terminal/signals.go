package terminal

import (
	"context"
	"os"
	"os/signal"
)

// Interruptible returns a context that ends with the first Ctrl-C, SIGTERM or, on Unix,
// SIGUSR2. A second Ctrl-C ends the process at once. SIGTERM and SIGUSR2 are ignored then: a
// scheduler that preempts a job repeats SIGTERM within a second, while the job saves. early has a
// signal that came before; it may be nil. The returned function stops catching signals.
func Interruptible(parent context.Context, early chan os.Signal) (context.Context, context.CancelFunc) {
	inner, end := context.WithCancel(parent)
	ctx, restore := signal.NotifyContext(inner, stopSignals...)
	if early != nil {
		signal.Stop(early) // the context has all that come from here on
	}
	unhook := context.AfterFunc(ctx, func() {
		if parent.Err() == nil {
			Finish()
		}
		restore()
	})
	select {
	case <-early:
		end()
	default:
	}
	return ctx, func() {
		unhook()
		restore()
		end()
	}
}

// Finish lets a process that has only to leave do so with its own exit code: from here on SIGTERM and SIGUSR2 are ignored. Ctrl-C is not.
func Finish() { signal.Ignore(launcherSignals...) }
