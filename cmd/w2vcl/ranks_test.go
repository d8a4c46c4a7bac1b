package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/w2vcl/w2vcl/train/runfolder"
)

// rankCommands are so many ranks of a command line, started as torchrun does. They write what they say to the buffers.
func rankCommands(t *testing.T, ranks int, line string) ([]*exec.Cmd, []*bytes.Buffer) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port - 1 // w2vcl listens at the one after it
	l.Close()
	commands, said := make([]*exec.Cmd, ranks), make([]*bytes.Buffer, ranks)
	for r := range commands {
		c := w2vclCommand(t, strings.Fields(line)...)
		said[r] = &bytes.Buffer{}
		c.Stderr = said[r]
		c.Env = append(c.Env, fmt.Sprint("RANK=", r), fmt.Sprint("WORLD_SIZE=", ranks), "MASTER_ADDR=127.0.0.1", fmt.Sprint("MASTER_PORT=", port))
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		commands[r] = c
	}
	return commands, said
}

func runRanks(t *testing.T, ranks int, line string) {
	t.Helper()
	commands, said := rankCommands(t, ranks, line)
	for r, c := range commands {
		if err := c.Wait(); err != nil {
			t.Fatalf("%s: rank %d: %v\n%s", line, r, err, said[r])
		}
	}
}

// TestLostRank: a rank that is killed ends the others, which name it, within ten seconds; and the run goes on to the bits of one
// that was not disturbed.
func TestLostRank(t *testing.T) {
	dir := t.TempDir()
	var text strings.Builder
	for i := range 2500 {
		fmt.Fprintf(&text, "a b%d c%d d%d e%d f%d g%d h%d\n", i%3, i%7, i%31, i%53, i*i%211, i*7%83, i*i%97)
	}
	path := filepath.Join(dir, "text")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	line := "train --corpus " + path + " --mode fullw2v --dim 50 --epochs 40 --sync 3000 --threads 1 --checkpoint 5 --quiet --out "
	whole := filepath.Join(dir, "whole")
	runRanks(t, 3, line+whole)
	for _, lost := range []int{0, 2} {
		out := filepath.Join(dir, fmt.Sprint("lost", lost))
		commands, said := rankCommands(t, 3, line+out)
		waitFor(t, filepath.Join(out+".partial", "checkpoint", "state.safetensors"))
		if err := commands[lost].Process.Kill(); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		for r, c := range commands {
			err := c.Wait()
			if want := fmt.Sprintf("rank %d (127.0.0.1:", lost); r != lost && (err == nil || !strings.Contains(said[r].String(), want)) {
				t.Errorf("rank %d is lost; rank %d: %v\n%s", lost, r, err, said[r])
			}
		}
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("rank %d is lost; the others end after %s", lost, took)
		}
		runRanks(t, 3, "resume "+out+" --quiet")
		for _, name := range []string{runfolder.VectorsFile, runfolder.ContextFile} {
			want, err1 := os.ReadFile(filepath.Join(whole, name))
			got, err2 := os.ReadFile(filepath.Join(out, name))
			if err1 != nil || err2 != nil || !bytes.Equal(got, want) {
				t.Errorf("rank %d was lost: other %s after resume (%v, %v)", lost, name, err1, err2)
			}
		}
	}
}
