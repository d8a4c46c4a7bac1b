//go:build torture

package main

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/w2vcl/w2vcl/cmd/internal/cli"
)

// TestTorture disturbs commands at random and continues them, as a person would, until
// they are done. In the end nothing may be missing: the output is that of an
// undisturbed run to the bit (of several threads that race, it is whole), the input is
// as it was, and no unfinished file is left. It needs no Go: a compiled test binary
// suffices. Variables of the environment:
//
//	TORTURE_KILLS  how many commands must be disturbed before their end (default 200)
//	TORTURE_SEED   what repeats a run, apart from the timing (default: a new one)
//	TORTURE_W2VCL  the program (default: the test binary itself)
//	TORTURE_KEEP   keep the folders of tries that failed
//
// -parallel says how many commands run at a time. Full disks take the superuser. Runs on ranks take Open MPI, and a
// program that is built with the tag mpi.
func TestTorture(t *testing.T) {
	kills := 200
	if text := os.Getenv("TORTURE_KILLS"); text != "" {
		var err error
		if kills, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	seed := rand.Uint64()
	if text := os.Getenv("TORTURE_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("TORTURE_SEED=%d TORTURE_KILLS=%d", seed, kills)
	inputs := makeInputs(t)
	before := treeHash(t, inputs)
	all := victims(inputs)
	if err := all[0].makeOtherProgram(); err != nil {
		t.Fatal(err)
	}
	share := (kills + len(all) - 1) / len(all)
	byCommand, byKind := &tortureTable{title: "command"}, &tortureTable{title: "disturbance"}
	for _, kind := range disturbances {
		if !slices.Contains(byKind.names, kind.name) {
			byKind.names = append(byKind.names, kind.name)
		}
	}
	// Runs when all parallel tests have ended.
	t.Cleanup(func() {
		if treeHash(t, inputs) != before {
			t.Error("a command changed its input")
		}
		t.Logf("seed %d\n%s\n%s", seed, byCommand, byKind)
	})
	const atATime = 5
	for _, v := range all {
		byCommand.names = append(byCommand.names, v.name())
		for part := range (share + atATime - 1) / atATime {
			t.Run(fmt.Sprintf("%s/%d", v.name(), part), func(t *testing.T) {
				t.Parallel()
				want := v.undisturbed(t)
				hash := fnv.New64a()
				fmt.Fprint(hash, t.Name())
				random := rand.New(rand.NewPCG(seed, hash.Sum64()))
				for hit := 0; hit < min(atATime, share-part*atATime); {
					s := &suffering{victim: v, random: random, t: t, want: want, byKind: byKind}
					s.run()
					hit += s.counts.hits
					byCommand.add(v.name(), s.counts)
					if s.counts.losses > 0 {
						return // the next ones would tell the same
					}
				}
			})
		}
	}
}

// A suffering is a command that is disturbed, continued and disturbed again.
type suffering struct {
	*victim
	t      *testing.T
	random *rand.Rand
	want   reference
	dir    string
	log    []string // what happened
	disk   bool     // dir is a disk of its own
	hasOld bool     // an earlier output is there, and is to be replaced
	killed bool     // by a signal that a process cannot catch
	counts tortureCounts
	byKind *tortureTable
}

// failed notes a loss.
func (s *suffering) failed(format string, args ...any) {
	s.counts.losses++
	s.t.Errorf("%s: %s\n  %s", s.name(), fmt.Sprintf(format, args...), strings.Join(s.log, "\n  "))
}

// run disturbs the command up to three times, and then lets it finish.
func (s *suffering) run() {
	dir, err := os.MkdirTemp(s.inputs+".work", "try")
	if err != nil {
		s.t.Fatal(err)
	}
	s.dir = dir
	defer func() {
		if s.counts.losses == 0 || os.Getenv("TORTURE_KEEP") == "" {
			os.RemoveAll(dir)
		}
	}()
	kind := s.anyKind()
	if kind.disk {
		if unmount, err := mountDisk(dir, "16m"); err == nil {
			s.disk = true
			defer unmount(s.t)
		} else if !kind.folder {
			kind = disturbances[0] // not the superuser
		}
	}
	if s.hasOld = s.want.old != "" && s.random.IntN(2) == 0; s.hasOld {
		if err := os.CopyFS(dir, os.DirFS(s.want.old)); err != nil {
			s.t.Fatal(err)
		}
	}
	for range 1 + s.random.IntN(3) {
		if s.finished() {
			break
		}
		before := s.counts
		s.counts.tries++
		if s.disturb(kind) {
			s.counts.hits++
		}
		if s.counts.losses == 0 {
			s.checkState()
		}
		s.byKind.add(kind.name, tortureCounts{
			1, s.counts.hits - before.hits, s.counts.resumed - before.resumed, s.counts.losses - before.losses,
		})
		if s.counts.losses > 0 {
			return
		}
		kind = s.anotherKind()
	}
	if !s.finished() {
		args := s.next()
		output, err := s.command(s.t.Context(), nil, args...).CombinedOutput()
		s.log = append(s.log, fmt.Sprintf("undisturbed %q: %v\n%s", args, err, output))
		if err != nil {
			s.failed("does not continue")
			return
		}
	}
	s.checkEnd()
}

// finished reports whether the output is there already.
func (s *suffering) finished() bool {
	digest, err := s.digest(s.dir)
	return err == nil && digest == s.want.digest && !s.unfinished(s.dir)
}

// next returns the command that a person would type now.
func (s *suffering) next() []string {
	if s.resume != nil && s.unfinished(s.dir) {
		s.counts.resumed++
		return s.resume
	}
	if len(s.log) > 0 || s.hasOld {
		return slices.Concat(s.start, s.again)
	}
	return s.start
}

// checkState looks at what a disturbed command left.
func (s *suffering) checkState() {
	if s.hasOld && !s.keepsOld(s.dir) {
		s.failed("the earlier output is gone")
	}
}

// checkEnd looks at what a command left in the end.
func (s *suffering) checkEnd() {
	switch digest, err := s.digest(s.dir); {
	case err != nil:
		s.failed("%v", err)
	case digest != s.want.digest:
		s.failed("not what an undisturbed run leaves:\n%s\nbut\n%s", s.want.digest, digest)
	}
	for _, name := range filesBelow(s.dir) {
		if strings.Contains(name, ".tmp-") || strings.HasSuffix(name, ".partial") || strings.HasSuffix(name, ".replaced") {
			s.failed("left %s", name)
		}
	}
}

// command is the program, or a shell that limits itself and becomes the program.
func (s *suffering) command(ctx context.Context, limit []string, args ...string) *exec.Cmd {
	program := s.program
	if s.ranks {
		program, args = s.onRanks(args)
	}
	if len(limit) > 0 {
		args = slices.Concat([]string{"-c", strings.Join(limit, "; ") + `; exec "$0" "$@"`, program}, args)
		program = "/bin/sh"
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	s.t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = s.dir
	s.prepare(cmd)
	return cmd
}

// disturb runs the command and disturbs it. It reports whether the command met the
// disturbance.
func (s *suffering) disturb(kind disturbance) bool {
	args := s.next()
	var limit []string
	if kind.limit != nil {
		limit = kind.limit(s.random)
	}
	after := time.Duration(s.random.Float64() * float64(s.want.life))
	phase := ""
	if len(s.phases) > 0 && s.random.IntN(2) == 0 {
		phase = s.phases[s.random.IntN(len(s.phases))]
	}
	s.log = append(s.log, fmt.Sprintf("%s after %v %s %v: %q", kind.name, after, phase, limit, args))
	if kind.version {
		args = append(slices.Clone(args), anotherVersion)
	}
	cmd := s.command(s.t.Context(), limit, args...)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		s.failed("%v", err)
		return false
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait()
	}()
	hit, undo := false, func() {}
	if kind.strike != nil && s.wait(ended, after, phase) {
		undo = kind.strike(s, cmd.Process, ended)
		hit = true
	}
	<-ended
	undo()
	code := cmd.ProcessState.ExitCode()
	s.log = append(s.log, fmt.Sprintf("  exit code %d, %v\n%s", code, cmd.ProcessState, &output))
	switch status := cmd.ProcessState.Sys().(syscall.WaitStatus); {
	case status.Signaled():
		s.killed = true
		hit = true
		if status.Signal() == syscall.SIGKILL && !kind.kills {
			s.failed("it hangs: ended after a minute")
		}
	case strings.Contains(output.String(), "panic: ") || !kind.crashes && strings.Contains(output.String(), "\ngoroutine "):
		s.failed("it panics")
	case kind.version:
		if hit = code != 0 && strings.Contains(output.String(), "the version of w2vcl is "); !hit {
			s.failed("ranks of different versions were not refused")
		}
	case kind.crashes && code == 2 && (strings.Contains(output.String(), "fatal error: ") || strings.Contains(output.String(), "pthread_create failed")):
		s.killed = true // by Go's runtime, of a program with cgo too
		hit = true
	case !s.ranks && !slices.Contains([]int{0, cli.ExitFailed, cli.ExitInterrupted}, code): // mpirun has codes of its own
		s.failed("exit code %d", code)
	case kind.strike == nil:
		hit = code != 0
	case s.ranks && code != 0:
		s.killed = true
	}
	if code == cli.ExitInterrupted && s.resume != nil {
		s.hasOld = false // the vectors until then take its place
	}
	return hit
}

// wait waits for the moment of the disturbance: a file that is there, or a time. It
// reports whether the command is still running.
func (s *suffering) wait(ended <-chan struct{}, after time.Duration, phase string) bool {
	there := func() bool {
		return slices.ContainsFunc(filesBelow(s.dir), func(name string) bool { return strings.HasPrefix(name, phase) })
	}
	if phase != "" && there() { // left by the process before: the random time is taken
		phase = ""
	}
	for start := time.Now(); phase != "" || time.Since(start) < after; {
		select {
		case <-ended:
			return false
		default:
		}
		pause := time.Millisecond
		if phase != "" {
			if there() {
				return true
			}
			pause /= 20
		}
		time.Sleep(pause)
	}
	select {
	case <-ended:
		return false
	default:
		return true
	}
}

// tortureCounts are the numbers of a row of a table.
type tortureCounts struct{ tries, hits, resumed, losses int }

// A tortureTable counts by command, or by disturbance.
type tortureTable struct {
	title string
	mutex sync.Mutex
	names []string // of the rows, in order
	rows  map[string]tortureCounts
}

func (t *tortureTable) add(name string, c tortureCounts) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.rows == nil {
		t.rows = map[string]tortureCounts{}
	}
	t.rows[name] = t.rows[name].plus(c)
}

func (c tortureCounts) plus(d tortureCounts) tortureCounts {
	return tortureCounts{c.tries + d.tries, c.hits + d.hits, c.resumed + d.resumed, c.losses + d.losses}
}

func (t *tortureTable) String() string {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, t.title+"\ttries\tinterrupted in time\tresumed\tlosses")
	row := func(name string, c tortureCounts) {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\n", name, c.tries, c.hits, c.resumed, c.losses)
	}
	var sum tortureCounts
	for _, name := range t.names {
		if t.rows[name].tries > 0 { // -run may leave some out
			row(name, t.rows[name])
			sum = sum.plus(t.rows[name])
		}
	}
	row("all", sum)
	w.Flush()
	return text.String()
}

// filesBelow lists everything below a folder, also while a process works there.
func filesBelow(root string) (names []string) {
	_ = filepath.WalkDir(root, func(path string, _ os.DirEntry, err error) error {
		if name, relErr := filepath.Rel(root, path); err == nil && relErr == nil && name != "." {
			names = append(names, name)
		}
		return nil // files may go in the meantime
	})
	return names
}

// mountDisk mounts a small disk over a folder.
func mountDisk(dir, size string) (unmount func(*testing.T), err error) {
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		return nil, err
	}
	return func(t *testing.T) {
		err := syscall.Unmount(dir, 0)
		for range 1000 { // a process that another test starts has our open files for a moment
			if err != syscall.EBUSY {
				break
			}
			time.Sleep(time.Millisecond)
			err = syscall.Unmount(dir, 0)
		}
		if err != nil {
			t.Errorf("cannot unmount: %v", err)
		}
	}, nil
}
