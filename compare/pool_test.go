package compare

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/w2vcl/w2vcl/train/progress"
)

var errStopped = errors.New("stopped")

// poolVariable makes the test binary a process of a pool.
const poolVariable = "POOL_TEST_WORKER"

// poolProcess is that process.
func poolProcess(job string) {
	err := work(context.Background(), os.Stdin, os.Stdout, errStopped, func(context.Context) (doer, func(), error) {
		return func(ctx context.Context, task string) error { return doTask(ctx, job, task) }, func() {}, nil
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// begunFile is the file that "wait FILE" makes when it begins.
func begunFile(file string) string { return file + ".begun" }

// awaitFile waits for a file; tests that wait for ever have a time limit of their own.
func awaitFile(path string) {
	for {
		if _, err := os.Stat(path); err == nil {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// doTask does a task: "wait FILE" waits for the end and then makes a file, "fail FILE" and "die
// FILE" wait for a file before they do as they say, "done FILE" makes a file.
func doTask(ctx context.Context, job, task string) error {
	fmt.Fprintf(os.Stderr, "%s by %s\n", task, job)
	verb, file, _ := strings.Cut(task, " ")
	switch verb {
	case "fail":
		awaitFile(file)
		return errors.New("no luck\nat all")
	case "die":
		awaitFile(file)
		fmt.Fprintln(os.Stderr, "out of cheese")
		os.Exit(7)
	case "wait":
		_ = os.WriteFile(begunFile(file), nil, 0o600)
		<-ctx.Done()
		_ = os.WriteFile(file, []byte("saved"), 0o600)
		return fmt.Errorf("%w in time", errStopped)
	}
	return os.WriteFile(file, []byte(job), 0o600)
}

func testPool(t *testing.T, out *bytes.Buffer) *pool {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return &pool{
		Start: func(job int) *exec.Cmd {
			cmd := exec.Command(program)
			cmd.Env = append(os.Environ(), fmt.Sprintf("%s=worker%d", poolVariable, job))
			return cmd
		},
		Progress: progress.New(out), Interrupted: errStopped,
	}
}

// TestRun: every task is done once, by some process, and what they say is shown.
func TestRun(t *testing.T) {
	for processes := 1; processes <= 4; processes++ {
		var out bytes.Buffer
		p := testPool(t, &out)
		begun, done := map[string]int{}, map[string]int{}
		p.Begin = func(task string, _ int) { begun[task]++ }
		p.Done = func(task string) { done[task]++ }
		var tasks []string
		dir := t.TempDir()
		for i := range 7 {
			tasks = append(tasks, "done "+filepath.Join(dir, fmt.Sprint(i)))
		}
		if err := p.Run(t.Context(), processes, tasks); err != nil {
			t.Fatal(err)
		}
		for _, task := range tasks {
			if begun[task] != 1 || done[task] != 1 {
				t.Errorf("%d processes: %s begun %d times, done %d times", processes, task, begun[task], done[task])
			}
			if _, err := os.Stat(strings.TrimPrefix(task, "done ")); err != nil {
				t.Error(err)
			}
			if !strings.Contains(out.String(), "| "+task+" by worker") {
				t.Errorf("%s is not shown:\n%s", task, &out)
			}
		}
	}
}

// TestErrors: the first error stops the other processes, which save what they have, and names
// its task.
func TestErrors(t *testing.T) {
	for verb, want := range map[string]string{"fail": "no luck\nat all", "die": "ended (exit status 7): out of cheese"} {
		var out bytes.Buffer
		saved := filepath.Join(t.TempDir(), "saved")
		p := testPool(t, &out)
		task := verb + " " + begunFile(saved)
		err := p.Run(t.Context(), 2, []string{"wait " + saved, task, "done " + saved})
		if err == nil || errors.Is(err, errStopped) || !strings.HasPrefix(err.Error(), task+": ") || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
		if data, err := os.ReadFile(saved); err != nil || string(data) != "saved" {
			t.Errorf("the other process left %q, %v", data, err)
		}
	}
	p := testPool(t, &bytes.Buffer{})
	p.Start = func(int) *exec.Cmd { return exec.Command(filepath.Join(t.TempDir(), "nothing")) }
	if err := p.Run(t.Context(), 2, []string{"done x"}); err == nil || !strings.Contains(err.Error(), "cannot start job 1") {
		t.Errorf("no program: error %v", err)
	}
}

// TestInterrupt: processes finish what an interrupt finishes, and no task begins after it.
func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	dir := t.TempDir()
	file := func(i int) string { return filepath.Join(dir, fmt.Sprint(i)) }
	var out bytes.Buffer
	p := testPool(t, &out)
	go func() {
		awaitFile(begunFile(file(0)))
		awaitFile(begunFile(file(1)))
		cancel()
	}()
	err := p.Run(ctx, 2, []string{"wait " + file(0), "wait " + file(1), "done " + file(2)})
	if !errors.Is(err, errStopped) {
		t.Errorf("error %v", err)
	}
	for i := range 3 {
		if data, _ := os.ReadFile(file(i)); (string(data) == "saved") != (i < 2) {
			t.Errorf("task %d left %q", i, data)
		}
	}
}

// TestWorkerPrepares: a process whose parent is gone ends while it prepares, whether or not a task had come.
func TestWorkerPrepares(t *testing.T) {
	for _, tasks := range []string{"", "a task\n"} {
		in, parent := io.Pipe()
		go func() {
			_, _ = io.WriteString(parent, tasks) // the reader's end is not closed
			parent.Close()
		}()
		err := work(t.Context(), in, io.Discard, errStopped, func(ctx context.Context) (doer, func(), error) {
			<-ctx.Done()
			return nil, nil, ctx.Err()
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%q: %v", tasks, err)
		}
	}
}
