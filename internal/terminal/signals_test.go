//go:build unix

package terminal

import (
	"context"
	"os/signal"
	"syscall"
	"testing"
)

// TestFinish: a process that has only to leave does not mind SIGTERM, neither while signals are caught nor after that.
func TestFinish(t *testing.T) {
	defer signal.Reset(launcherSignals...)
	ctx, restore := Interruptible(context.Background())
	defer restore()
	Finish()
	for _, x := range []syscall.Signal{syscall.SIGTERM, syscall.SIGUSR2} {
		if err := syscall.Kill(syscall.Getpid(), x); err != nil {
			t.Fatal(err)
		}
	}
	if err := ctx.Err(); err != nil {
		t.Errorf("the context ended: %v", err)
	}
	restore()
	if err := syscall.Kill(syscall.Getpid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if !signal.Ignored(syscall.SIGTERM) || !signal.Ignored(syscall.SIGUSR2) || signal.Ignored(syscall.SIGINT) {
		t.Error("SIGTERM and SIGUSR2 are not ignored, or SIGINT is")
	}
}
