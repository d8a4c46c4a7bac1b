package train

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// Interruptible returns a context that the first Ctrl-C or SIGTERM cancels;
// notify, if not nil, is called then. A second signal is not caught any more
// and ends the process at once. The returned function gives the signals back.
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
