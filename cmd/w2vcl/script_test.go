package main

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"
)

// patience is how long a test waits for a command, or for something that the command does. No command takes that long, even
// on a busy machine.
const patience = 5 * time.Minute

// w2vclCommand returns a command that ends with the test at the latest. It believes in two processors on every machine: reading, training
// and scoring take memory for each, and tests set limits.
func w2vclCommand(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	program, err := exec.LookPath("w2vcl") // put into PATH by testscript.Main
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=2")
	return cmd
}

// waitFor waits until a file is there.
func waitFor(t *testing.T, path string) {
	t.Helper()
	for start := time.Now(); time.Since(start) < patience; {
		if _, err := os.Stat(path); err == nil {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatalf("%s did not appear", path)
}
