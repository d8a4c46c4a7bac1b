//go:build unix

package terminal

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"
)

// TestFinish: a process that has only to leave does not mind SIGTERM, neither while signals are caught nor after that.
func TestFinish(t *testing.T) {
	defer signal.Reset(launcherSignals...)
	ctx, restore := Interruptible(context.Background(), nil)
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
	ctx, restore := Interruptible(context.Background(), nil)
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

// TestEarlySignal: a signal that came before a context is one for it, and ends it as others do.
func TestEarlySignal(t *testing.T) {
	defer signal.Reset(launcherSignals...)
	early := make(chan os.Signal, 1)
	signal.Notify(early, launcherSignals...)
	for _, came := range []bool{false, true} {
		if came {
			signal.Notify(early, launcherSignals...)
			if err := syscall.Kill(syscall.Getpid(), syscall.SIGUSR2); err != nil {
				t.Fatal(err)
			}
			for len(early) == 0 {
				time.Sleep(time.Millisecond)
			}
		}
		ctx, restore := Interruptible(context.Background(), early)
		if came {
			<-ctx.Done()
			for !signal.Ignored(syscall.SIGTERM) {
				time.Sleep(time.Millisecond)
			}
		} else if err := ctx.Err(); err != nil {
			t.Errorf("without a signal: %v", err)
		}
		restore()
	}
}

// TestInterruptibleEnds: a context that its parent ends leaves signals as they were.
func TestInterruptibleEnds(t *testing.T) {
	parent, cancel := context.WithCancel(context.Background())
	ctx, restore := Interruptible(parent, nil)
	cancel()
	<-ctx.Done()
	restore()
	if signal.Ignored(syscall.SIGTERM) {
		t.Error("SIGTERM is ignored")
	}
}
