//go:build linux || darwin

package main

import (
	"bytes"
	"fmt"
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
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/w2vcl/w2vcl/cmd/internal/cli"
	"github.com/w2vcl/w2vcl/train/runfolder"
)

// longCommands are command lines that take long, by command. PIPE is a pipe that never
// ends, text a text; where a line has none, ready is what the command says when it is at work.
var longCommands = map[string]struct{ args, ready string }{
	"train":        {"train --corpus PIPE --out run", ""},
	"resume":       {"resume stopped", ""},
	"plan":         {"plan --corpus PIPE", ""},
	"demo":         {"demo --dim 100 --iterations 100000", "Training on"},
	"corpus stats": {"corpus stats PIPE", ""},
	"matrix build": {"matrix build --corpus PIPE --matrix m", ""},
	"walk":         {"walk PIPE --out walks", ""},
	"phrases":      {"phrases text --apply PIPE --out joined", ""},
	"eval":         {"eval PIPE", ""},
	"stability":    {"stability PIPE PIPE", ""},
	"ensemble":     {"ensemble PIPE PIPE --out mean", ""},
	"metrics":      {"metrics live --out m.csv", ""},
	"map":          {"map PIPE --out m.svg", ""},
	"neighbors":    {"neighbors PIPE word", ""},
	"similarity":   {"similarity PIPE a b", ""},
	"analogy":      {"analogy PIPE a b c", ""},
	"vector":       {"vector PIPE word", ""},
	"convert":      {"convert PIPE out.txt", ""},
}

// shortCommands end at once, or need what a test may lack. Compare and corpus build read a text again, which is no pipe then, so
// only a long text would make them wait.
var shortCommands = []string{"completion bash", "completion zsh", "completion fish", "completion powershell", "compare", "corpus build", "corpus info", "matrix info", "doctor", "version", "help"}

// TestInterrupt interrupts every command. It ends with exit code 130, one sentence and
// no file that was not there.
func TestInterrupt(t *testing.T) {
	eachCommand(func(cmd *cobra.Command) {
		name := cli.CommandName(cmd)
		if _, ok := longCommands[name]; ok == slices.Contains(shortCommands, name) {
			t.Errorf("%s: list it in longCommands", name)
		}
		if !strings.HasPrefix(name, "completion ") && !slices.ContainsFunc(anytime, func(line string) bool { return strings.HasPrefix(line, name) }) {
			t.Errorf("%s: list it in anytime", name)
		}
	})
	for name, long := range longCommands {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			interrupt(t, long.args, long.ready)
		})
	}
}

// openRead opens a pipe for writing as soon as a command reads it. It does not block, because a command that ended never reads.
func openRead(t *testing.T, pipe string, stderr *signalWriter) *os.File {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if f, err := os.OpenFile(pipe, os.O_WRONLY|unix.O_NONBLOCK, 0); err == nil {
			return f
		}
	}
	t.Fatalf("the command does not read:\n%s", stderr)
	return nil
}

func interrupt(t *testing.T, args, ready string) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{"stopped.partial", "live"} {
		if err := os.Mkdir(filepath.Join(dir, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	config := []byte("mode = \"cl\"\ncorpus = \"" + pipe + "\"\n")
	if err := os.WriteFile(filepath.Join(dir, "stopped.partial", runfolder.ConfigFile), config, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "text"), []byte(strings.Repeat("a b c d e f g h i j k l\n", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(pipe, filepath.Join(dir, "live", runfolder.MetricsFile)); err != nil {
		t.Fatal(err)
	}
	before := tree(t, dir)
	cmd := w2vclCommand(t, strings.Fields(strings.ReplaceAll(args, "PIPE", pipe))...)
	cmd.Dir = dir
	stderr := &signalWriter{text: ready, seen: make(chan bool)}
	cmd.Stderr = stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if ready == "" {
		f := openRead(t, pipe, stderr)
		defer f.Close()
		if _, err := f.WriteString("some words"); err != nil {
			t.Fatal(err)
		}
	} else {
		select {
		case <-stderr.seen:
		case <-time.After(patience):
			t.Fatalf("the command did not say %q:\n%s", ready, stderr)
		}
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	said := stderr.String()
	if code := cmd.ProcessState.ExitCode(); code != cli.ExitInterrupted {
		t.Errorf("exit code %d\n%s", code, said)
	}
	lines := strings.Split(strings.TrimSpace(said), "\n")
	if last := lines[len(lines)-1]; !strings.HasPrefix(last, "w2vcl: interrupted") || strings.Count(said, "w2vcl: ") != 1 || strings.Contains(said, "context canceled") {
		t.Errorf("it said:\n%s", said)
	}
	if after := tree(t, dir); !slices.Equal(before, after) {
		t.Errorf("left %q, before there were %q", after, before)
	}
}

// tree lists all files in a folder and below.
func tree(t *testing.T, dir string) (names []string) {
	t.Helper()
	if err := filepath.Walk(dir, func(path string, _ os.FileInfo, err error) error {
		names = append(names, path)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return names
}

// A signalWriter keeps what is written, and closes seen when there is some text.
type signalWriter struct {
	mutex sync.Mutex
	said  bytes.Buffer // not embedded: its ReadFrom would pass Write by
	text  string
	seen  chan bool
	done  bool
}

func (w *signalWriter) Write(p []byte) (int, error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	n, err := w.said.Write(p)
	if !w.done && w.text != "" && bytes.Contains(w.said.Bytes(), []byte(w.text)) {
		w.done = true
		close(w.seen)
	}
	return n, err
}

func (w *signalWriter) String() string {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.said.String()
}

// anytime are command lines that take a moment. OUT is a name that is not taken.
var anytime = []string{
	"train --corpus text --out OUT", "train --corpus text --out OUT --model sg", "train --corpus text --out OUT --subword cnn --iterations 50",
	"train --corpus text --out OUT --mode word2vec", "train --corpus text --out OUT --mode vanilla", "train --corpus text --out OUT --mode glove",
	"train --corpus text --out OUT --mode ppmi", "train --graph graph --out OUT --mode pword2vec", "train --corpus text --out OUT --seeds 3 --iterations 50",
	"plan --corpus text", "demo --out OUT --iterations 200", "resume run --iterations 100000", "corpus build --corpus text --cache OUT", "corpus stats text",
	"matrix build --corpus text --matrix OUT", "walk graph --out OUT --holdout .3 --holdout-out OUT.pairs --rest-out OUT.rest",
	"phrases text --out OUT --save OUT.list --min-count 1 --threshold 1", "eval run", "eval run --against run2", "stability run run2",
	"ensemble run run2 --out OUT", "compare --corpus text --out OUT --modes word2vec,vanilla --budget epochs=2 --points 2 --data pairs.tsv", "metrics run",
	"map run --out OUT.svg", "neighbors run w1", "similarity run w1 w2", "analogy run w1 w2 w3", "vector run w1", "convert run OUT.txt", "convert run OUT.npy",
	"matrix info matrix", "corpus info cache", "doctor", "version",
}

// interruptsVariable is the environment variable with the number of moments.
const interruptsVariable = "W2VCL_INTERRUPTS"

// TestInterruptAnytime interrupts commands at random moments. They end within two seconds, or,
// where other tests keep the machine busy, ten.
func TestInterruptAnytime(t *testing.T) {
	moments, limit := 10, 10*time.Second
	if text := os.Getenv(interruptsVariable); text != "" {
		var err error
		if moments, err = strconv.Atoi(text); err != nil {
			t.Fatalf("%s: %v", interruptsVariable, err)
		}
		limit = 2 * time.Second
	}
	dir := t.TempDir()
	var graph strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&graph, "n%d n%d\n", rand.IntN(2000), i%2000)
	}
	for name, content := range map[string]string{
		"text": string(makeText(100_000, 1)), "graph": graph.String(), "pairs.tsv": "w1\tw2\t1\nw3\tw4\t2\nw5\tw6\t3\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	command := func(line string) *exec.Cmd {
		cmd := w2vclCommand(t, strings.Fields(line)...)
		cmd.Dir = dir
		return cmd
	}
	for _, line := range []string{
		"train --corpus text --out run --iterations 50 --checkpoint keep", "train --corpus text --out run2 --iterations 50 --seed 2",
		"matrix build --corpus text --matrix matrix --contexts 8", "corpus build --corpus text --cache caches",
	} {
		if output, err := command(line).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", line, err, output)
		}
	}
	caches, err := filepath.Glob(filepath.Join(dir, "caches", "*"))
	if err == nil {
		err = os.Rename(caches[0], filepath.Join(dir, "cache"))
	}
	if err != nil {
		t.Fatal(err)
	}
	life := map[string]time.Duration{} // about
	order := rand.Perm(len(anytime))
	for i := range moments {
		line := anytime[order[i%len(order)]]
		var said bytes.Buffer
		cmd := command(strings.ReplaceAll(line, "OUT", fmt.Sprintf("out%d", i)))
		cmd.Stderr = &said
		start := time.Now()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		whole := max(life[line], 100*time.Millisecond)
		after := time.Duration(rand.Float64() * float64(whole))
		select {
		case <-ended:
			life[line] = time.Since(start)
			continue
		case <-time.After(after):
		}
		asked := time.Now()
		_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended
		<-ended
		took := time.Since(asked)
		life[line] = min(whole+whole/2, 3*time.Second)
		t.Logf("%s: asked after %v, ended %v later, %v", line, after, took, cmd.ProcessState)
		if code := cmd.ProcessState.ExitCode(); took > limit || code != cli.ExitInterrupted && code != cli.ExitDone && code != -1 { // -1: before the program listens
			t.Errorf("%s: asked after %v, ended %v later, %v\n%s", line, after, took, cmd.ProcessState, &said)
		}
	}
}
