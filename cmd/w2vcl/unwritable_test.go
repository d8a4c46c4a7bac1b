//go:build linux || darwin

package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/w2vcl/w2vcl/cmd/internal/cli"
)

// TestForceUnwritable: a folder that --force cannot replace is found before the text is
// read, which is a pipe that never ends here.
func TestForceUnwritable(t *testing.T) {
	dir := t.TempDir()
	program, err := exec.LookPath("w2vcl")
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{filepath.Dir(dir), dir} { // another user may look in
		if err := os.Chmod(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if program, err = copyProgram(program, filepath.Join(dir, "w2vcl")); err != nil {
		t.Fatal(err)
	}
	runs := filepath.Join(dir, "runs")
	for _, unwritable := range []string{"run", "run/checkpoint"} {
		for _, folder := range []string{runs, filepath.Join(runs, "run"), filepath.Join(runs, "run", "checkpoint")} {
			if err := os.Mkdir(folder, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(folder, 0o777); err != nil {
				t.Fatal(err)
			}
		}
		vectors := filepath.Join(runs, "run", "vectors.bin")
		if err := os.WriteFile(vectors, []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(filepath.Join(runs, unwritable), 0o555); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		cmd := exec.CommandContext(ctx, program, "train", "--corpus", "-", "--out", filepath.Join(runs, "run"), "--force")
		stdin, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if os.Geteuid() == 0 { // permissions do not bind the superuser
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		}
		output, _ := cmd.CombinedOutput()
		stdin.Close()
		cancel()
		if cmd.ProcessState.ExitCode() != cli.ExitFailed || !strings.Contains(string(output), "--force cannot replace "+filepath.Join(runs, "run")+": ") || !strings.Contains(string(output), "permission denied") {
			t.Errorf("%s unwritable: exit code %d\n%s", unwritable, cmd.ProcessState.ExitCode(), output)
		}
		if content, err := os.ReadFile(vectors); err != nil || string(content) != "old" {
			t.Errorf("%s unwritable: the run holds %q (%v)", unwritable, content, err)
		}
		if left, err := os.ReadDir(runs); err != nil || len(left) != 1 {
			t.Errorf("%s unwritable: left %q (%v)", unwritable, left, err)
		}
		if err := os.Chmod(filepath.Join(runs, unwritable), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(runs); err != nil {
			t.Fatal(err)
		}
	}
}

// copyProgram makes a program that any user may run.
func copyProgram(from, to string) (string, error) {
	content, err := os.ReadFile(from)
	if err != nil {
		return "", err
	}
	return to, os.WriteFile(to, content, 0o755)
}
