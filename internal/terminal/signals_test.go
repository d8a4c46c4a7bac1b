//go:build unix

package terminal

import (
	"context"
	"os/signal"
	"syscall"
	"testing"
	"time"
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

// TestSecondSignal: a process that was told to stop goes on saving when it is told again.
func TestSecondSignal(t *testing.T) {
	defer signal.Reset(launcherSignals...)
	ctx, restore := Interruptible(context.Background())
	defer restore()
	for range 2 {
		if err := syscall.Kill(syscall.Getpid(), syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		<-ctx.Done()
		for !signal.Ignored(syscall.SIGTERM) {
			time.Sleep(time.Millisecond)
		}
	}
	if signal.Ignored(syscall.SIGINT) {
		t.Error("a second Ctrl-C does not quit")
	}
}

// TestInterruptibleEnds: a context that its parent ends leaves signals as they were.
func TestInterruptibleEnds(t *testing.T) {
	parent, cancel := context.WithCancel(context.Background())
	ctx, restore := Interruptible(parent)
	cancel()
	<-ctx.Done()
	restore()
	if signal.Ignored(syscall.SIGTERM) {
		t.Error("SIGTERM is ignored")
	}
}
