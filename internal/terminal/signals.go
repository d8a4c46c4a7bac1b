package terminal

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// Interruptible returns a context that ends with the first Ctrl-C or SIGTERM.
// Interruptible then calls notify, if it is not nil. It does not catch a second
// signal, which ends the process at once. The returned function stops catching
// signals.
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
