package terminal

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// Interruptible returns a context that ends with the first Ctrl-C or SIGTERM. It does
// not catch a second signal, which ends the process at once. The returned function
// stops catching signals.
func Interruptible(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, restore := signal.NotifyContext(parent, os.Interrupt, syscall.SIGTERM)
	unhook := context.AfterFunc(ctx, restore)
	return ctx, func() {
		unhook()
		restore()
	}
}
