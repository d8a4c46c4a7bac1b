package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/parquet-go/parquet-go"
	parquetgzip "github.com/parquet-go/parquet-go/compress/gzip"
)

// hostileFile writes a file, compressed with gzip if its name says so.
func hostileFile(t *testing.T, path string, write func(w io.Writer)) string {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if filepath.Ext(path) != ".gz" {
		w := bufio.NewWriter(f)
		write(w)
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		return path
	}
	z, err := gzip.NewWriterLevel(f, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	write(z)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// numbered writes the numbers below count, each after one text and before another.
func numbered(before, after string, count int) func(w io.Writer) {
	return func(w io.Writer) {
		var text []byte
		for i := range count {
			text = append(strconv.AppendInt(append(text[:0], before...), int64(i), 10), after...)
			w.Write(text)
		}
	}
}

// again writes a text many times.
func again(text string, times int) func(w io.Writer) {
	return func(w io.Writer) {
		for range times {
			io.WriteString(w, text)
		}
	}
}

const bombRows = 52

// parquetBomb returns a small file of parquet with a large page.
var parquetBomb = sync.OnceValue(func() []byte {
	type row struct {
		Text string `parquet:"text,plain"`
	}
	var file bytes.Buffer
	fast := parquet.Compression(&parquetgzip.Codec{Level: parquetgzip.BestSpeed})
	if err := parquet.Write(&file, slices.Repeat([]row{{strings.Repeat("a ", 1<<20)}}, bombRows), parquet.PageBufferSize(1<<30), fast); err != nil {
		panic(err)
	}
	return file.Bytes()
})

// TestHostileFiles: files that are small, but say or become much, end with an error
// that says so, and within the memory that the process may have.
func TestHostileFiles(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	text := hostileFile(t, at("text"), again("the red fox and the blue dog\n", 50))
	types := hostileFile(t, at("types"), numbered("w", " ", 1_000_000))
	manyTokens := hostileFile(t, at("tokens.gz"), again(strings.Repeat("a b\n", 1<<16), 150)) // 39 MB if a token takes two bytes
	random := rand.New(rand.NewPCG(1, 1))
	digits := func(n int) string { // they compress to a fifteenth
		text := []byte(strings.Repeat(" 0", n))
		for i := 1; i < len(text); i += 2 {
			text[i] = '0' + byte(random.Uint32()&1)
		}
		return string(text)
	}
	hostileFile(t, at("vectors"), again("2 1\na 1\nb 2\n", 1))
	endless := hostileFile(t, at("line.gz"), again(digits(1<<16), 300))
	rows := hostileFile(t, at("rows.gz"), func(w io.Writer) { // the rest would not be read
		fmt.Fprintln(w, "40000 1000")
		for i := range 4000 {
			fmt.Fprintf(w, "w%d%s\n", i, digits(1000))
		}
	})
	zeros := strings.Repeat(" 0", 1000) + "\n"
	undeclared := hostileFile(t, at("undeclared.gz"), func(w io.Writer) { again("w"+zeros, 50_000)(w) })
	line := hostileFile(t, at("edge.gz"), again(strings.Repeat("x", 1<<16), 1000))
	nodes := hostileFile(t, at("nodes.gz"), func(w io.Writer) {
		var line []byte
		for i := range int64(2_000_000) {
			line = strconv.AppendInt(append(line[:0], "node"...), i, 10)
			line = strconv.AppendInt(append(line, ' '), i, 10)
			w.Write(append(line, '\n'))
		}
	})
	manyEdges := hostileFile(t, at("edges"), func(w io.Writer) { // 16 bytes each while they are read, and 8 more
		var line []byte
		for range 1_800_000 {
			line = strconv.AppendInt(line[:0], random.Int64N(20_000), 10)
			line = strconv.AppendInt(append(line, ' '), random.Int64N(20_000), 10)
			w.Write(append(line, '\n'))
		}
	})
	walks := []string{"train", "--mode", "word2vec", "--out", at("run"), "--dim", "4", "--quiet", "--max-memory", "60MB", "--graph"}
	object := hostileFile(t, at("object.json.gz"), func(w io.Writer) {
		io.WriteString(w, `{"text":`)
		again(strings.Repeat("[", 1<<16), 1800)(w)
	})
	train := []string{"train", "--mode", "word2vec", "--out", at("run"), "--min-count", "1", "--dim", "4", "--quiet"}
	limited := slices.Concat(train, []string{"--max-memory", "100MB"})
	const mega = 1_000_000
	const low = 100 * mega
	// Up to twice the limit: on a busy machine garbage waits for its collection.
	for _, c := range []struct {
		name      string
		most      int64
		code      int
		want      string
		arguments []string
	}{
		{"different words", 2 * low, 1, "different words so far", slices.Concat(limited, []string{"--corpus", types})},
		{"text bomb, read into a file", 110 * mega, 1, "but the text has 2", slices.Concat(train, []string{"--corpus", manyTokens, "--max-memory", "55MB"})},
		{"object without end", 2 * low, 1, "object.json.gz: not enough memory", slices.Concat(limited, []string{"--corpus", object, "--field", "text"})},
		{"endless line of --init", 2 * low, 1, "line 1:", slices.Concat(limited, []string{"--corpus", text, "--init", endless})},
		{"vectors that a header promises", 2 * low, 1, "not enough memory", slices.Concat(limited, []string{"--corpus", text, "--init", rows})},
		{"endless line", 300 * mega, 1, "line 1: it has more than", []string{"neighbors", endless, "a"}},
		{"vectors of zeros", 500 * mega, 1, "times as many, which vectors should not", []string{"neighbors", undeclared, "a"}},
		{"endless configuration", low, 1, "name a regular file", slices.Concat(train, []string{"--corpus", text, "--config", "/dev/zero"})},
		{"endless NUL", low, 1, "NUL", []string{"neighbors", "/dev/zero", "a"}},
		{"endless edge", low, 1, "line 1: it has more than 1048576 bytes", []string{"walk", line, "--out", at("walks")}},
		{"edges that fill the memory", 110 * mega, 1, "not enough memory", slices.Concat(walks, []string{manyEdges, "--max-memory", "55MB"})},
		{"nodes that fill the memory", 120 * mega, 1, "not enough memory", slices.Concat(walks, []string{nodes})},
		{"endless word", low, 1, "--words /dev/zero: line 1: it has more than 1048576 bytes", []string{"convert", at("vectors"), at("out.txt"), "--words", "/dev/zero"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := w2vclCommand(t, c.arguments...)
			output, peak := peakOf(t, cmd)
			if code := cmd.ProcessState.ExitCode(); code != c.code || !strings.Contains(string(output), c.want) || strings.Contains(string(output), "goroutine") {
				t.Errorf("exit code %d, want %d with %q:\n%.2000s", code, c.code, c.want, output)
			}
			t.Logf("%d bytes were resident", peak)
			if peak > c.most {
				t.Errorf("%d bytes were resident, more than %d", peak, c.most)
			}
		})
	}
}

// startCommand starts a command. It returns what the command prints, to be read after the channel is closed, when the command has ended.
func startCommand(t *testing.T, cmd *exec.Cmd) (output *bytes.Buffer, ended <-chan struct{}) {
	t.Helper()
	output = new(bytes.Buffer)
	cmd.Stdout, cmd.Stderr = output, output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	end := make(chan struct{})
	go func() {
		defer close(end)
		_ = cmd.Wait() // the exit code is asked for
	}()
	return output, end
}

// peakOf runs a command and returns what it printed, and the most memory that it had
// resident. Wait's usage would count what the test had when it started the command.
func peakOf(t *testing.T, cmd *exec.Cmd) (output []byte, peak int64) {
	t.Helper()
	both, ended := startCommand(t, cmd)
	status, exe := fmt.Sprintf("/proc/%d/status", cmd.Process.Pid), fmt.Sprintf("/proc/%d/exe", cmd.Process.Pid)
	test, err := os.Readlink("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	for {
		select {
		case <-ended:
			return both.Bytes(), peak
		case <-time.After(2 * time.Millisecond):
		}
		if program, err := os.Readlink(exe); err != nil || program == test && cmd.Path != test {
			continue // not started yet, or ended
		}
		lines, _ := os.ReadFile(status)
		if _, rest, ok := strings.Cut(string(lines), "VmHWM:"); ok {
			kilobytes, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			peak = max(peak, 1024*kilobytes)
		}
	}
}

// TestComparisonIsRefusedAtOnce: a comparison is refused before its first run is trained if its second one needs too much, and
// the limit that the refusal names is enough for both. So is that of a text.
func TestComparisonIsRefusedAtOnce(t *testing.T) {
	r := newRun(t)
	for _, command := range [][]string{
		{"compare", "--modes", "word2vec", "--dim", "100", "--variant", "other: mode=word2vec,dim=60000,lr=0.001", "--budget", "epochs=1", "--points", "1", "--threads", "1", "--out", filepath.Join(t.TempDir(), "out"), "--max-memory", "90MB"},
		{"corpus", "build", "--cache", filepath.Join(t.TempDir(), "cache"), "--max-memory", "20MB"},
	} {
		run := func() ([]byte, error) {
			return w2vclCommand(t, append(slices.Clone(command), r.args[:2]...)...).CombinedOutput()
		}
		output, err := run()
		need := regexp.MustCompile(`(other: training|reading the text) needs about ([\d.]+ MB)`).FindSubmatch(output)
		if err == nil || need == nil || bytes.Contains(output, []byte("Trained:")) {
			t.Fatalf("%v: %v\n%s", command, err, output)
		}
		command[len(command)-1] = strings.ReplaceAll(string(need[2]), " ", "")
		if output, err = run(); err != nil {
			t.Errorf("%v: %v\n%s", command, err, output)
		}
	}
}

// TestClassifyKeepsLimit: scoring sentences is refused before it takes the memory, or keeps to the limit.
func TestClassifyKeepsLimit(t *testing.T) {
	r := newRun(t)
	sets := t.TempDir()
	random := rand.New(rand.NewPCG(1, 1))
	for _, folder := range []string{"train/pos", "train/neg", "test/pos", "test/neg"} {
		if err := os.MkdirAll(filepath.Join(sets, "reviews", folder), 0o755); err != nil {
			t.Fatal(err)
		}
		for i := range 12 {
			hostileFile(t, filepath.Join(sets, "reviews", folder, strconv.Itoa(i)+".txt"), func(w io.Writer) {
				for range 60 {
					fmt.Fprintf(w, "w%d ", random.IntN(60))
				}
			})
		}
	}
	hostileFile(t, filepath.Join(sets, "pairs.txt"), func(w io.Writer) {
		for i := range 30 {
			fmt.Fprintf(w, "w%d w%d %d\n", i, i+1, i%7)
		}
	})
	flags := []string{"--modes", "word2vec", "--classify", "--data", sets}
	r.compareWithin(80, "scoring reviews: not enough memory", flags...)
	r.compareWithin(170, "", flags...)
}

// compareWithin compares a variant under a limit of so many MB: it is kept, or refused with an error, "" if it is not refused.
func (r *trainingRun) compareWithin(mega int, want string, flags ...string) {
	r.t.Helper()
	args := slices.Concat([]string{"compare", "--budget", "epochs=1", "--points", "1", "--threads", "1",
		"--max-memory", strconv.Itoa(mega) + "MB", "--out", filepath.Join(r.t.TempDir(), "out")}, flags, r.args)
	cmd := w2vclCommand(r.t, args...)
	output, peak := peakOf(r.t, cmd)
	r.t.Logf("%d MB: %d bytes were resident", mega, peak)
	if failed := cmd.ProcessState.ExitCode() != 0; failed != (want != "") || !strings.Contains(string(output), want) {
		r.t.Errorf("%d MB: %v\n%s", mega, cmd.ProcessState, output)
	}
	if peak > int64(mega)*1_250_000 { // on a busy machine garbage waits for its collection
		r.t.Errorf("%d MB: %d bytes were resident", mega, peak)
	}
}
