package compare

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"

	"github.com/w2vcl/w2vcl/train/progress"
)

// A pool hands tasks out to processes that work side by side: it writes the tasks to their
// standard input, and they answer on their standard output. A process stops when its standard
// input ends, so that it needs no signals and does not outlive the pool.
type pool struct {
	// Start returns the command of process number job, from 0, which calls Work. The pool
	// takes its standard streams.
	Start func(job int) *exec.Cmd
	// Begin, if not nil, is called when a process gets a task, one call at a time.
	Begin func(task string, job int)
	// Done, if not nil, is called when a task is done, one call at a time.
	Done func(task string)
	// Progress shows what the processes say on standard error, with their numbers.
	Progress *progress.Progress
	// Interrupted is the error of a task that was stopped.
	Interrupted error
}

// An answer is what a process says of a task, as a line of JSON.
type answer struct {
	Error       string `json:"error,omitempty"`
	Interrupted bool   `json:"interrupted,omitempty"`
}

// Run runs the tasks in that many processes. With the first error the other processes are
// stopped, as they are when ctx ends: they finish what an interrupt finishes. The error names
// the task. It is Interrupted if nothing else went wrong.
func (p *pool) Run(ctx context.Context, processes int, tasks []string) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	left := make(chan string, len(tasks))
	for _, task := range tasks {
		left <- task
	}
	close(left)
	var all sync.WaitGroup
	var lock sync.Mutex // of Begin and Done
	errs := make([]error, min(processes, len(tasks)))
	for job := range errs {
		all.Go(func() {
			errs[job] = p.run(ctx, job, left, &lock)
			if errs[job] != nil {
				stop()
			}
		})
	}
	all.Wait()
	for _, err := range errs { // an error before the interrupts that it led to
		if err != nil && !errors.Is(err, p.Interrupted) {
			return err
		}
	}
	return errors.Join(errs...)
}

// run gives tasks to one process until none is left.
func (p *pool) run(ctx context.Context, job int, left <-chan string, lock *sync.Mutex) (err error) {
	w, err := p.begin(job)
	if err != nil {
		return fmt.Errorf("cannot start job %d: %w", job+1, err)
	}
	task := ""
	for err == nil && ctx.Err() == nil {
		next, ok := <-left
		if !ok {
			break
		}
		task = next
		locked(lock, p.Begin != nil, func() { p.Begin(task, job) })
		err = w.do(ctx, task, p.Interrupted)
		locked(lock, p.Done != nil && err == nil, func() { p.Done(task) })
	}
	ended := w.end()
	switch {
	case ctx.Err() != nil && (err == nil || errors.Is(err, errGone)):
		return p.Interrupted
	case errors.Is(err, errGone) && ended != nil:
		return fmt.Errorf("%s: job %d ended (%w)%s", task, job+1, ended, w.last())
	case err != nil:
		return err
	default:
		return nil // all is done, so how it ended says nothing
	}
}

// locked calls f with the lock, if it shall be called.
func locked(lock *sync.Mutex, call bool, f func()) {
	if call {
		lock.Lock()
		defer lock.Unlock()
		f()
	}
}

// errGone is the error of a process that answers no more.
var errGone = errors.New("its process does not answer")

// A poolWorker is a process of the pool.
type poolWorker struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	said    sync.WaitGroup // reading what it says
	lock    sync.Mutex
	closing sync.Once
	line    string // the last it said
}

func (p *pool) begin(job int) (*poolWorker, error) {
	w := &poolWorker{cmd: p.Start(job)}
	var err error
	if w.in, err = w.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	said, err := w.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	w.out = bufio.NewReader(out)
	if err := w.cmd.Start(); err != nil {
		return nil, err
	}
	w.said.Go(func() {
		lines := bufio.NewReader(said)
		for {
			line, err := lines.ReadString('\n')
			if line = strings.TrimRight(line, "\r\n"); line != "" {
				p.Progress.Notef("job %d | %s", job+1, line)
				w.lock.Lock()
				w.line = line
				w.lock.Unlock()
			}
			if err != nil {
				return
			}
		}
	})
	return w, nil
}

// do gives the process a task and waits for its answer. When ctx ends it tells the process to
// stop, and waits on.
func (w *poolWorker) do(ctx context.Context, task string, interrupted error) error {
	defer context.AfterFunc(ctx, w.close)()
	if _, err := io.WriteString(w.in, task+"\n"); err != nil {
		return fmt.Errorf("%w: %w", errGone, err)
	}
	line, err := w.out.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("%w: %w", errGone, err)
	}
	var a answer
	switch err := json.Unmarshal(line, &a); {
	case err != nil:
		return fmt.Errorf("%s: %w: %q", task, errGone, line)
	case a.Interrupted:
		return fmt.Errorf("%w: %s", interrupted, a.Error)
	case a.Error != "":
		return fmt.Errorf("%s: %s", task, a.Error)
	}
	return nil
}

// close ends the standard input of the process.
func (w *poolWorker) close() { w.closing.Do(func() { _ = w.in.Close() }) }

// end waits for the end of the process and returns how it ended.
func (w *poolWorker) end() error {
	w.close()
	_, _ = io.Copy(io.Discard, w.out)
	w.said.Wait()
	return w.cmd.Wait()
}

// last is the end of a message: what the process said last.
func (w *poolWorker) last() string {
	w.lock.Lock()
	defer w.lock.Unlock()
	if w.line == "" {
		return ""
	}
	return ": " + w.line
}

// A doer does a task of a pool.
type doer func(ctx context.Context, task string) error

// work is a process of a pool: it prepares, does the tasks that come on in and answers on out, until in
// ends. If that is while it prepares or does a task, the context ends. interrupted tells the error of a
// task that was stopped. The error of work is that of preparing or of writing.
func work(ctx context.Context, in io.Reader, out io.Writer, interrupted error, prepare func(ctx context.Context) (do doer, end func(), err error)) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	tasks := make(chan string, 1) // the first one comes while the process prepares
	go func() {
		defer stop()
		defer close(tasks)
		for lines := bufio.NewScanner(in); lines.Scan(); {
			select {
			case tasks <- lines.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	do, end, err := prepare(ctx)
	if err != nil {
		return err
	}
	defer end()
	for task := range tasks {
		var a answer
		if err := do(ctx, task); err != nil {
			a = answer{err.Error(), errors.Is(err, interrupted)}
		}
		line, err := json.Marshal(a)
		if err == nil {
			_, err = out.Write(append(line, '\n'))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
