package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// What becomes of a system call.
type fate int

const (
	passes fate = iota
	fails       // with the error of a full disk; nothing is done
	kills       // the process, before anything is done
)

// A change is a system call that changes files.
type change struct {
	name string
	path string
}

// takesSpace reports whether a full disk refuses the call.
func (c change) takesSpace() bool {
	return c.name != "unlink" && c.name != "rename" && c.name != "chmod"
}

// A tracer runs a command, and stops it before each system call that changes files in a folder.
type tracer struct {
	dir     string
	decide  func(c change) fate // no other change is under way meanwhile
	pid     int
	memory  *os.File
	inside  map[int]bool // threads between the begin and the end of a call
	busy    int          // the thread whose change is under way; 0: none
	failing bool         // that change
	waiting []int        // threads before a change
}

// traced runs a command under a tracer. It returns the exit code, -1 if it was killed, and what the command said.
func traced(t *testing.T, cmd *exec.Cmd, dir string, decide func(c change) fate) (code int, said string) {
	t.Helper()
	output, err := os.Create(filepath.Join(t.TempDir(), "said"))
	if err != nil {
		t.Fatal(err)
	}
	defer output.Close()
	cmd.Stdout, cmd.Stderr = output, output
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	runtime.LockOSThread() // only the thread that started a process may trace it
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		t.Skipf("processes cannot be traced here: %v", err)
	}
	r := &tracer{dir: dir + "/", decide: decide, pid: cmd.Process.Pid, inside: map[int]bool{}}
	if r.memory, err = os.Open("/proc/" + strconv.Itoa(r.pid) + "/mem"); err != nil {
		t.Fatal(err)
	}
	defer r.memory.Close()
	var status syscall.WaitStatus
	if _, err = syscall.Wait4(r.pid, &status, 0, nil); err == nil {
		err = syscall.PtraceSetOptions(r.pid, unix.PTRACE_O_TRACESYSGOOD|unix.PTRACE_O_TRACECLONE|unix.PTRACE_O_EXITKILL)
	}
	if err != nil {
		t.Fatal(err)
	}
	r.resume(r.pid, 0)
	for {
		tid, err := syscall.Wait4(-1, &status, unix.WALL|unix.WNOTHREAD, nil)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if !status.Stopped() {
			if tid == r.pid {
				_ = cmd.Wait() // for its goroutine; the process is gone
				text, _ := os.ReadFile(output.Name())
				return status.ExitStatus(), string(text)
			}
			continue
		}
		r.stopped(tid, status)
	}
}

// stopped handles a thread that stopped.
func (r *tracer) stopped(tid int, status syscall.WaitStatus) {
	signal := status.StopSignal()
	switch {
	case signal != syscall.SIGTRAP|0x80: // no system call
		if signal == syscall.SIGTRAP || signal == syscall.SIGSTOP { // of tracing
			signal = 0
		}
		r.resume(tid, signal)
		return
	case r.inside[tid]:
		r.inside[tid] = false
		if tid == r.busy {
			r.end(tid)
			return
		}
	default:
		r.inside[tid] = true
		if c, ok := r.change(tid); ok {
			r.waiting = append(r.waiting, tid)
			r.next(c)
			return
		}
	}
	r.resume(tid, 0)
}

// end ends a change, and lets the next one begin.
func (r *tracer) end(tid int) {
	if r.failing {
		var regs syscall.PtraceRegs
		_ = syscall.PtraceGetRegs(tid, &regs) // the process may be gone
		full := -int64(syscall.ENOSPC)
		regs.Rax = uint64(full)
		_ = syscall.PtraceSetRegs(tid, &regs)
	}
	r.busy, r.failing = 0, false
	r.resume(tid, 0)
	if len(r.waiting) > 0 {
		c, _ := r.change(r.waiting[0])
		r.next(c)
	}
}

// next decides about the change of the first thread that waits, unless another is under way.
func (r *tracer) next(c change) {
	if r.busy != 0 {
		return
	}
	tid := r.waiting[0]
	r.busy, r.waiting = tid, r.waiting[1:]
	switch r.decide(c) {
	case kills:
		_ = syscall.Kill(r.pid, syscall.SIGKILL)
		return
	case fails:
		var regs syscall.PtraceRegs
		_ = syscall.PtraceGetRegs(tid, &regs)
		regs.Orig_rax = ^uint64(0) // no system call has this number
		_ = syscall.PtraceSetRegs(tid, &regs)
		r.failing = true
	}
	r.resume(tid, 0)
}

func (r *tracer) resume(tid int, signal syscall.Signal) { _ = syscall.PtraceSyscall(tid, int(signal)) }

// change returns the change that a thread is about to make in the folder.
func (r *tracer) change(tid int) (c change, ok bool) {
	var regs syscall.PtraceRegs
	if syscall.PtraceGetRegs(tid, &regs) != nil {
		return change{}, false
	}
	file := func() string {
		path, _ := os.Readlink("/proc/" + strconv.Itoa(r.pid) + "/fd/" + strconv.Itoa(int(regs.Rdi)))
		return path
	}
	switch regs.Orig_rax {
	case unix.SYS_WRITE, unix.SYS_PWRITE64, unix.SYS_WRITEV:
		c = change{"write", file()}
	case unix.SYS_FTRUNCATE, unix.SYS_FALLOCATE:
		c = change{"truncate", file()}
	case unix.SYS_FSYNC, unix.SYS_FDATASYNC:
		c = change{"sync", file()}
	case unix.SYS_FCHMOD:
		c = change{"chmod", file()}
	case unix.SYS_OPENAT:
		if regs.Rdx&unix.O_CREAT != 0 {
			c = change{"create", r.text(regs.Rsi)}
		}
	case unix.SYS_MKDIRAT:
		c = change{"mkdir", r.text(regs.Rsi)}
	case unix.SYS_UNLINKAT:
		c = change{"unlink", r.text(regs.Rsi)}
	case unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2:
		c = change{"rename", r.text(regs.R10)}
	}
	return c, strings.HasPrefix(c.path, r.dir) || c.path != "" && c.path[0] != '/' && !strings.Contains(c.path, ":")
}

// text reads a text of the process.
func (r *tracer) text(at uint64) string {
	buffer := make([]byte, 256)
	n, _ := r.memory.ReadAt(buffer, int64(at)) // less where the memory ends
	text, _, _ := bytes.Cut(buffer[:n], []byte{0})
	return string(text)
}
