//go:build torture

package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/w2vcl/w2vcl/cmd/internal/clitest"
	"github.com/w2vcl/w2vcl/train/runfolder"
)

// A victim is a command that TestTorture disturbs. Its files are in the folder that it
// runs in, its inputs elsewhere.
type victim struct {
	verb, mode string
	program    string
	inputs     string   // folder
	start      []string // the command
	again      []string // to be added where there is output already
	resume     []string // continues what is unfinished; nil: the command itself does
	old        []string // to be added for an earlier output that is replaced; nil: not tried
	ranks      bool     // the command runs on two ranks
	phases     []string // beginnings of names of files at whose appearance to strike

	unfinished func(dir string) bool // resume is the way to continue
	digest     func(dir string) (string, error)
	keepsOld   func(dir string) bool // output as before, or new

	once      sync.Once
	reference reference
}

// A reference is what undisturbed commands leave.
type reference struct {
	digest string
	old    string // folder with an earlier output
	life   time.Duration
}

func (v *victim) name() string { return strings.TrimRight(v.verb+"/"+v.mode, "/") }

// undisturbed runs the command without disturbing it, once.
func (v *victim) undisturbed(t *testing.T) reference {
	t.Helper()
	v.once.Do(func() {
		run := func(dir string, args []string) {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			program := v.program
			if v.ranks {
				program, args = v.onRanks(args)
			}
			cmd := exec.CommandContext(t.Context(), program, args...)
			cmd.Dir = dir
			v.prepare(cmd)
			if output, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%q: %v\n%s", args, err, output)
			}
		}
		base := filepath.Join(v.inputs+".work", strings.ReplaceAll(v.name(), "/", "-"))
		if v.old != nil {
			v.reference.old = base + "-old"
			run(v.reference.old, slices.Concat(v.start, v.old))
		}
		start := time.Now()
		run(base, v.start)
		v.reference.life = time.Since(start)
		var err error
		if v.reference.digest, err = v.digest(base); err != nil {
			t.Fatal(err)
		}
	})
	if v.reference.digest == "" {
		t.Fatal("there is nothing to compare with")
	}
	return v.reference
}

// makeInputs writes what the commands read, and returns the folder. Beside it is a
// folder with the suffix .work for everything else.
func makeInputs(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "inputs")
	for _, d := range []string{dir, dir + ".work", filepath.Join(dir, "sets")} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	var edges, pairs, questions, vectors bytes.Buffer
	for i := range 3000 {
		fmt.Fprintf(&edges, "n%d n%d\n", i%1500, random.IntN(1500))
	}
	questions.WriteString(": topics\n")
	for range 40 {
		a, b := random.IntN(60), random.IntN(60)
		fmt.Fprintf(&pairs, "w%d w%d %d\n", a, b, 9-8*((a-b)%3)*((a-b)%3)/4)
		fmt.Fprintf(&questions, "w%d w%d w%d w%d\n", a, (a+3)%60, b, (b+3)%60)
	}
	const words, dim = 20000, 24
	fmt.Fprintf(&vectors, "%d %d\n", words, dim)
	for i := range words {
		fmt.Fprintf(&vectors, "word%d", i)
		for range dim {
			fmt.Fprintf(&vectors, " %.5f", random.NormFloat64())
		}
		vectors.WriteByte('\n')
	}
	for name, content := range map[string][]byte{
		"text": clitest.MakeText(20000, 1), "long": clitest.MakeText(200000, 2), "graph": edges.Bytes(), "sets/pairs.txt": pairs.Bytes(),
		"sets/questions.txt": questions.Bytes(), "vectors.txt": vectors.Bytes(),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// victims lists all commands that write files and take time, train in every mode.
func victims(inputs string) []*victim {
	program := os.Getenv("TORTURE_W2VCL")
	if program == "" {
		program, _ = exec.LookPath("w2vcl") // put into PATH by testscript.Main
	}
	in := func(name string) string { return filepath.Join(inputs, name) }
	var all []*victim
	train := func(mode string, exact bool, flags ...string) {
		all = append(all, &victim{
			verb: "train", mode: mode,
			start: slices.Concat([]string{"train", "--corpus", in("text"), "--out", "run", "--dim", "24"}, flags),
			again: []string{"--force"}, old: []string{"--seed", "2"}, resume: []string{"resume", "run"}, phases: phases,
			unfinished: unfinishedRun,
			digest:     func(dir string) (string, error) { return runDigest(filepath.Join(dir, "run"), exact) },
			keepsOld: func(dir string) bool {
				return wholeRun(filepath.Join(dir, "run")) || wholeRun(filepath.Join(dir, "run.replaced"))
			},
		})
	}
	cl := []string{"--contexts", "64", "--checkpoint", "20"}
	train("cl", true, append(cl, "--iterations", "2000", "--positives", "2", "--max-positives", "4", "--shared-negatives", "4")...)
	train("cl, cbow", true, "--checkpoint", "20", "--iterations", "3000", "--batch", "200", "--subword", "none")
	train("cl, cbow ngram", true, "--checkpoint", "20", "--iterations", "1000", "--batch", "200", "--buckets", "500")
	train("cl, preset paper", true, append(cl, "--preset", "paper", "--iterations", "1500")...)
	train("cl, file of M", true, append(cl, "--matrix", "m", "--iterations", "1500")...)
	train("cl, cnn", true, "--contexts", "64", "--checkpoint", "5", "--iterations", "200", "--subword", "cnn")
	train("cl, ngram", true, append(cl, "--iterations", "600", "--subword", "ngram", "--buckets", "500")...)
	train("vanilla", true, "--mode", "vanilla", "--epochs", "150", "--checkpoint", "10")
	train("vanilla, cnn", true, "--mode", "vanilla", "--epochs", "30", "--checkpoint", "4", "--subword", "cnn")
	train("vanilla, ngram", true, "--mode", "vanilla", "--epochs", "100", "--checkpoint", "10", "--subword", "ngram", "--buckets", "500")
	for _, mode := range []string{"word2vec", "pword2vec", "psgnscc", "fullw2v", "parw2v"} {
		train(mode, true, "--mode", mode, "--epochs", "80", "--threads", "1", "--checkpoint", "4")
		train(mode+", 2 threads", false, "--mode", mode, "--epochs", "100", "--threads", "2", "--checkpoint", "4")
	}
	if ranksRun() {
		first := len(all)
		train("cl, columns of ranks", true, append(cl, "--iterations", "1500", "--tempering", "0", "--positives", "1", "--shared-negatives", "0", "--threads", "1")...)
		train("cl, rows of ranks", true, append(cl, "--iterations", "1500", "--threads", "1")...)
		train("fullw2v, ranks", true, "--mode", "fullw2v", "--epochs", "150", "--sync", "3000", "--threads", "1", "--checkpoint", "4")
		for _, v := range all[first:] {
			v.ranks = true
		}
	}
	train("word2vec, cbow", true, "--mode", "word2vec", "--model", "cbow", "--epochs", "100", "--threads", "1", "--checkpoint", "4")

	files := func(verb, mode string, names, start, again, old []string) {
		all = append(all, &victim{
			verb: verb, mode: mode, start: start, again: again, old: old,
			unfinished: func(string) bool { return false },
			digest:     func(dir string) (string, error) { return fileDigest(dir, names) },
		})
	}
	files("walk", "", []string{"walks.txt"}, []string{"walk", in("graph"), "--out", "walks.txt", "--length", "40", "--p", "0.5"},
		[]string{"--force"}, []string{"--seed", "2"})
	files("walk", "hold-out", []string{"walks.txt", "links.txt"},
		[]string{"walk", in("graph"), "--out", "walks.txt", "--length", "40", "--holdout", "0.2", "--holdout-out", "links.txt"},
		[]string{"--force"}, []string{"--seed", "2"})
	files("matrix build", "", []string{"m"}, []string{"matrix", "build", "--corpus", in("long"), "--matrix", "m", "--contexts", "4096"},
		[]string{"--force"}, []string{"--seed", "2"})
	for _, names := range [][]string{{"v.bin"}, {"v.txt"}, {"v.npy", "v.words.txt"}, {"v.safetensors"}, {"v.tsv", "v.metadata.tsv"}} {
		files("convert", "to "+filepath.Ext(names[0]), names, []string{"convert", in("vectors.txt"), names[0]}, []string{"--force"}, nil)
	}
	slices.SortStableFunc(all, func(a, b *victim) int { return strings.Compare(a.verb, b.verb) })
	all = append(all, &victim{
		verb: "compare",
		start: []string{"compare", "--corpus", in("text"), "--out", "report", "--data", in("sets"), "--modes", "cl,vanilla,pword2vec",
			"--contexts", "16", "--points", "3", "--dim", "8", "--threads", "1", "--set", "vanilla.epochs=30", "--set", "pword2vec.epochs=30"},
		unfinished: func(string) bool { return false },
		digest:     comparisonDigest,
	})
	for _, v := range all {
		v.program, v.inputs = program, inputs
		if v.keepsOld == nil { // each file is as before, or new, and whole
			digest := v.digest
			v.keepsOld = func(dir string) bool {
				got, err := digest(dir)
				old, _ := digest(v.reference.old)
				return err == nil && allLinesIn(got, old+v.reference.digest)
			}
		}
	}
	return all
}

func allLinesIn(lines, all string) bool {
	for line := range strings.Lines(lines) {
		if !strings.Contains(all, line) {
			return false
		}
	}
	return true
}

// unfinishedRun reports whether there is a run that resume continues.
func unfinishedRun(dir string) bool {
	if _, err := os.Stat(filepath.Join(dir, "run.replaced")); err == nil {
		return true
	}
	_, err := os.Stat(filepath.Join(dir, "run.partial", runfolder.ConfigFile))
	data, _ := os.ReadFile(filepath.Join(dir, "run", runfolder.SummaryFile))
	return err == nil || bytes.Contains(data, []byte(`"interrupted": true`))
}

// wholeRun reports whether a folder holds a run whose vectors can be read.
func wholeRun(dir string) bool {
	if _, err := os.Stat(filepath.Join(dir, runfolder.SummaryFile)); err != nil {
		return false
	}
	table, err := runfolder.LoadTable(context.Background(), dir)
	return err == nil && table.Len() == 60
}

// runDigest returns what must be the same in a finished run: all files but times, or
// if that is not exact only that all is there.
func runDigest(run string, exact bool) (string, error) {
	var text strings.Builder
	entries, err := os.ReadDir(run)
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(run, e.Name()))
		if err != nil {
			return "", err
		}
		switch name := e.Name(); {
		case name == runfolder.ConfigFile: // has the path of --matrix
			data = bytes.ReplaceAll(data, []byte(filepath.Dir(run)), nil)
		case name == runfolder.ChecksumsFile: // those of times, too
			data, err = nil, checkedRun(run)
		case name == runfolder.MetricsFile:
			data, err = metricsDigest(data, exact)
		case name == runfolder.SummaryFile:
			var s runfolder.Summary
			if err = json.Unmarshal(data, &s); err == nil {
				data = fmt.Appendf(nil, "%v %v %v", s.Interrupted, s.Iterations, s.Vocab)
			}
		case !exact && strings.HasSuffix(name, ".bin"):
			data, err = nil, finiteVectors(filepath.Join(run, name))
		}
		if err != nil {
			return "", fmt.Errorf("%s: %w", e.Name(), err)
		}
		fmt.Fprintf(&text, "%s %x\n", e.Name(), sha256.Sum256(data))
	}
	return text.String(), nil
}

// checkedRun returns an error if a file of a run has another checksum than is listed.
func checkedRun(run string) error {
	r, err := runfolder.Open(run)
	if err != nil {
		return err
	}
	return r.Check(context.Background())
}

// metricsDigest leaves out times.
func metricsDigest(data []byte, exact bool) ([]byte, error) {
	var text []byte
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		var m runfolder.Metric
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			return nil, err
		}
		text = fmt.Appendf(text, "%d\n", m.Unit)
		if exact {
			text = fmt.Appendf(text, "%v %v\n", m.Loss, m.LR)
		}
	}
	return text, nil
}

func finiteVectors(path string) error {
	table, err := runfolder.LoadTable(context.Background(), path)
	if err != nil {
		return err
	}
	for _, x := range table.Vectors {
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
			return errors.New("a vector is not finite")
		}
	}
	if table.Len() != 60 || table.Dim != 24 {
		return fmt.Errorf("%d words of %d dimensions", table.Len(), table.Dim)
	}
	return nil
}

func fileDigest(dir string, names []string) (string, error) {
	var text strings.Builder
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&text, "%s %x\n", name, sha256.Sum256(data))
	}
	return text.String(), nil
}

// comparisonDigest returns the scores of a report and its runs.
func comparisonDigest(dir string) (string, error) {
	data, err := os.ReadFile(filepath.Join(dir, "report", "report.json"))
	if err != nil {
		return "", err
	}
	var report struct {
		Differences json.RawMessage
		Runs        []struct {
			Finished bool
			Scores   json.RawMessage
			Points   []struct {
				Units  int
				Scores json.RawMessage
				Bands  json.RawMessage
			}
		}
	}
	if err := json.Unmarshal(data, &report); err != nil {
		return "", err
	}
	text := fmt.Sprintf("report.json %x\n", sha256.Sum256(fmt.Append(nil, report)))
	for _, name := range []string{"report.html", "scores.csv", "curve.csv", "bands.csv"} {
		if _, err := os.Stat(filepath.Join(dir, "report", name)); err != nil {
			return "", err
		}
	}
	runs, err := filepath.Glob(filepath.Join(dir, "report", "runs", "*", runfolder.SummaryFile))
	for _, run := range runs {
		digest, runErr := runDigest(filepath.Dir(run), true)
		err = errors.Join(err, runErr)
		text += digest
	}
	return text, err
}

// treeHash is the hash of all files below a folder.
func treeHash(t *testing.T, root string) string {
	t.Helper()
	hash := sha256.New()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		fmt.Fprintln(hash, path, len(data))
		hash.Write(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", hash.Sum(nil))
}
