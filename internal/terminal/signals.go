package terminal

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// Interruptible returns a context that the first Ctrl-C or SIGTERM cancels; then
// it calls notify, unless that is nil. A second signal is not caught and ends the
// process at once. The returned function gives the signals back to the system.
func Interruptible(parent context.Context, notify func()) (context.Context, context.CancelFunc) {
	ctx, restore := signal.NotifyContext(parent, os.Interrupt, syscall.SIGTERM)
	unhook := context.AfterFunc(ctx, func() {
		restore()
		if notify != nil && parent.Err() == nil {
			notify()
		}
	})
	return ctx, func() {
		unhook()
		restore()
	}
}
