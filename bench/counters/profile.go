package counters

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// ErrNoProfiler is wrapped by the error of a machine without ncu.
var ErrNoProfiler = errors.New("there is no Nsight Compute (ncu)")

// FindProfiler returns the path of ncu: the given one, or the one that PATH has.
func FindProfiler(given string) (string, error) {
	name := given
	if name == "" {
		name = "ncu"
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%w: %w; it comes with the CUDA toolkit. Name it with --ncu, or bring what it wrote elsewhere with --from", ErrNoProfiler, err)
	}
	return path, nil
}

// A Program is a command whose kernels are counted.
type Program struct {
	Name string
	Args []string // the program and its arguments

	// Launches, if not 0, is how many launches are counted; then the program is killed.
	Launches int
}

// Profile runs a program under ncu and returns its kernels. The launches number 2 and 3 of each are
// counted, for ncu repeats every one that it counts some ten times. The clocks of the GPU stay as
// they are. What ncu wrote goes to raw.
func Profile(ctx context.Context, ncu string, p Program, raw *bytes.Buffer) ([]Kernel, error) {
	folder, err := os.MkdirTemp("", "w2vcl-counters-*")
	if err != nil {
		return nil, fmt.Errorf("count %s: %w", p.Name, err)
	}
	defer func() { _ = os.RemoveAll(folder) }() // in the system's temporary folder
	log := filepath.Join(folder, "counters.csv")
	args := []string{
		"--csv", "--page", "raw", "--print-units", "base", "--log-file", log, "--clock-control", "none", "--target-processes", "all",
		"--kernel-id", ":::[23]", "--metrics", strings.Join(metrics, ","),
	}
	if p.Launches > 0 {
		args = append(args, "--launch-count", strconv.Itoa(p.Launches), "--kill", "yes")
	}
	args = append(args, p.Args...)
	cmd := exec.CommandContext(ctx, ncu, args...)
	said, runErr := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	text, err := os.ReadFile(log)
	if err != nil {
		return nil, fmt.Errorf("count %s: %s: %w: %s", p.Name, ncu, errors.Join(runErr, err), lastWords(string(said)))
	}
	fmt.Fprintf(raw, "%s%s\n%s\n", marker, p.Name, bytes.TrimSpace(text))
	kernels, err := Read(bytes.NewReader(text), p.Name)
	if err != nil {
		return nil, fmt.Errorf("count %s: %w: %s", p.Name, errors.Join(err, runErr), lastWords(string(said)))
	}
	return kernels, nil // what was counted is there, however a killed program ended
}
