package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/w2vcl/w2vcl/cmd/internal/cli"
)

// outputs lists every command that writes more than one file. Those with a command line are tested. Each of its together is files
// that belong together: they are of one writing, or some are missing. Other files are checked by who reads them.
var outputs = map[string]struct {
	before   []string // commands that make the files that are replaced
	line     string
	together []string // separated by spaces
	as       string   // the command that writes its files in the same way
}{
	"convert": {
		[]string{"convert x.txt v.npy"}, "convert y.txt v.npy --force", []string{"v.npy v.words.txt"}, "",
	},
	"convert for the projector": {
		[]string{"convert x.txt vectors.tsv"}, "convert y.txt vectors.tsv --force", []string{"vectors.tsv metadata.tsv"}, "",
	},
	"convert, the first time": {nil, "convert y.txt v.npy --force", []string{"v.npy v.words.txt"}, ""},
	"walk": {
		[]string{"walk graph --holdout .3 --holdout-out links --rest-out rest --out walks --length 5"},
		"walk graph --holdout .3 --holdout-out links --rest-out rest --out walks --length 5 --seed 2 --force", []string{"links rest walks"}, "",
	},
	"phrases": {
		[]string{"phrases text --out joined --save list --min-count 1 --threshold 1"},
		"phrases text --out joined --save list --min-count 1 --threshold 1.5 --force", []string{"joined list"}, "",
	},
	"compare": {
		[]string{comparison + "2", comparison + "1"}, comparison + "2", []string{"cmp/report.html cmp/report.json cmp/scores.csv cmp/curve.csv cmp/bands.csv " +
			"cmp/tables/scores.tex cmp/tables/scores.csv cmp/figures/mean-score-against-time.svg"}, "",
	},
	"train": {
		[]string{training + "--seed 2 --checkpoint keep"}, training + "--force --vocab v --cache c",
		[]string{tables("run"), tables("run.partial"), "v"}, "",
	},
	"resume": {
		[]string{training + "--checkpoint keep"}, "resume run --iterations 20", []string{tables("run"), tables("run.partial")}, "",
	},
	"matrix build": {
		[]string{"matrix build --corpus text --matrix m --contexts 8"}, "matrix build --corpus text --matrix m --contexts 16 --vocab v --cache c --force",
		[]string{"m", "v"}, "",
	},
	"demo": {as: "train"}, "plan": {as: "train"}, "corpus build": {as: "train"}, "corpus stats": {as: "train"},
}

const (
	training   = "train --corpus text --out run --dim 8 --batch 200 --iterations 10 "
	comparison = "compare --corpus text --out cmp --data sets --modes word2vec --budget epochs=1 --points 1 --dim 8 --seeds "
)

// tables lists the tables of a run folder.
func tables(run string) string {
	return run + "/vectors.bin " + run + "/context.bin " + run + "/positions.bin " + run + "/encoder.safetensors"
}

// faultsVariable is the environment variable with the number of calls that fail, of each command and in each way; all: each call.
const faultsVariable = "W2VCL_FAULTS"

// TestOutputsListed: no command that writes several files is missing in outputs.
func TestOutputsListed(t *testing.T) {
	eachCommand(func(cmd *cobra.Command) {
		name := cli.CommandName(cmd)
		files, writes := commandFiles[name], 0
		if files == nil {
			return
		}
		for _, f := range files(cli.FileValues{Cmd: cmd, Asked: map[string]bool{}}) {
			if f.Use.IsOutput() {
				writes++
			}
		}
		if _, ok := outputs[name]; writes > 1 && !ok {
			t.Errorf("%s writes several files: list it in outputs", name)
		}
	})
}

// TestFaults stops each command before every system call that changes a file: were it killed there, no new file would stand beside an
// old one. Then calls fail, as on a full disk, and the command is killed and repeated.
func TestFaults(t *testing.T) {
	for name, c := range outputs {
		if c.as != "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFaults(t, c.before, c.line, c.together)
			calls := f.watch()
			t.Logf("%d calls", calls)
			for _, k := range chosen(t, calls) {
				f.fail(k, true)
				f.fail(k, false)
				f.kill(k)
			}
		})
	}
}

// chosen returns some of so many numbers, or all.
func chosen(t *testing.T, calls int) []int {
	n := 1
	switch text := os.Getenv(faultsVariable); {
	case text == "all":
		n = calls
	case text != "":
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			t.Fatalf("%s: %v", faultsVariable, err)
		}
	}
	return rand.Perm(calls)[:min(n, calls)]
}

// faults are the trials of a command.
type faults struct {
	*testing.T
	dir      string // where the command runs
	template string // a copy with the files before
	line     string
	together []string
	old, new map[string]string // the contents of files before and after the command
}

func newFaults(t *testing.T, before []string, line string, together []string) *faults {
	f := &faults{T: t, dir: filepath.Join(t.TempDir(), "work"), template: filepath.Join(t.TempDir(), "before"), line: line, together: together}
	vectors := func(last string) string { return "3 2\na 0.5 1\nb 2 3\nc 4 " + last + "\n" }
	for name, content := range map[string]string{
		"text": string(makeText(2000, 1)), "x.txt": vectors("5"), "y.txt": "3 2\nc 1 1\nb 2 2\na 3 3\n",
		"graph": edges(), "sets/pairs.tsv": "w1\tw2\t1\nw3\tw4\t2\nw5\tw6\t3\n",
	} {
		path := filepath.Join(f.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, line := range before {
		if output, err := f.command(line).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", line, err, output)
		}
	}
	if err := os.Rename(f.dir, f.template); err != nil {
		t.Fatal(err)
	}
	f.old = f.contents(f.template)
	return f
}

// command returns a command in the folder.
func (f *faults) command(line string) *exec.Cmd {
	cmd := w2vclCommand(f.T, strings.Fields(line)...)
	cmd.Dir = f.dir
	return cmd
}

// edges returns a graph of two rings that share nodes.
func edges() string {
	var b strings.Builder
	for i := range 40 {
		fmt.Fprintf(&b, "n%d n%d\nn%d n%d\nn%d n%d\n", i, (i+1)%40, i, (i+7)%40, i, (i+11)%40)
	}
	return b.String()
}

// contents returns the contents of the files in a folder, by name.
func (f *faults) contents(dir string) map[string]string {
	found := map[string]string{}
	for _, path := range tree(f.T, dir) {
		if data, err := os.ReadFile(path); err == nil {
			name, _ := filepath.Rel(dir, path)
			found[name] = string(data)
		}
	}
	return found
}

// try runs the command on the files before it.
func (f *faults) try(decide func(c change) fate) (code int, said string) {
	err := os.RemoveAll(f.dir)
	if err == nil {
		err = os.CopyFS(f.dir, os.DirFS(f.template))
	}
	if err != nil {
		f.Fatal(err)
	}
	return traced(f.T, f.command(f.line), f.dir, decide)
}

// watch checks the files before each change of the command, and returns how many changes it makes.
func (f *faults) watch() (calls int) {
	code, said := f.try(func(change) fate { return passes })
	if f.new = f.contents(f.dir); code != 0 {
		f.Fatalf("exit code %d\n%s", code, said)
	}
	f.try(func(c change) fate {
		calls++
		f.check(fmt.Sprintf("before call %d, %v", calls, c))
		return passes
	})
	return calls
}

// fail lets call k fail, as the only one or with all after it that take space of the disk.
func (f *faults) fail(k int, alone bool) {
	n := -1
	var failed change
	code, said := f.try(func(c change) fate {
		if n++; n == k {
			failed = c
		}
		if n == k || !alone && n > k && c.takesSpace() {
			return fails
		}
		return passes
	})
	when := fmt.Sprintf("when call %d, %v, failed (alone: %v), exit code %d: %s", k+1, failed, alone, code, said)
	if news := f.check(when); code == 0 && news < len(f.together) {
		f.Errorf("%s: it does not say that it failed", when)
	}
	for name := range f.contents(f.dir) {
		if strings.Contains(name, ".tmp-") && failed.name != "unlink" {
			f.Errorf("%s: it left %s", when, name)
		}
	}
}

// kill kills the command at call k, and repeats it.
func (f *faults) kill(k int) {
	n := -1
	f.try(func(change) fate {
		if n++; n == k {
			return kills
		}
		return passes
	})
	f.check(fmt.Sprintf("killed before call %d", k+1))
	output, _ := f.command(f.line).CombinedOutput() // perhaps there is nothing left to do
	if news := f.check("repeated"); news < len(f.together) {
		f.Errorf("repeated after it was killed before call %d: not all is new\n%s", k+1, output)
	}
}

// check checks that files that belong together are of one writing. It returns for how many of together nothing is missing or old.
func (f *faults) check(when string) (whole int) {
	for _, together := range f.together {
		var olds, news, missing []string
		for name := range strings.FieldsSeq(together) {
			of := strings.Replace(name, ".partial/", "/", 1)
			data, err := os.ReadFile(filepath.Join(f.dir, name))
			switch content := string(data); {
			case err != nil:
				missing = append(missing, name)
			case f.old[of] == f.new[of] && content == f.old[of]:
			case content == f.old[of]:
				olds = append(olds, name)
			case content == f.new[of], strings.HasSuffix(content, end(f.new[of])): // a report has the time
				news = append(news, name)
			default:
				f.Errorf("%s: %s is neither old nor new", when, name)
			}
		}
		if len(olds) > 0 && len(news) > 0 {
			f.Errorf("%s: %q are old and %q new", when, olds, news)
		}
		if len(olds)+len(missing) == 0 || strings.Contains(together, ".partial/") {
			whole++
		}
	}
	return whole
}

// end returns the end of a file, which only a whole one has.
func end(content string) string { return content[max(len(content)-16, 0):] }

// TestKill kills processes with SIGKILL before random changes of files, and resumes the runs until they are done. The vectors are
// always those of an undisturbed run, and no other file is left.
func TestKill(t *testing.T) {
	const most = 12
	r := newRun(t, "--model", "sg", "--contexts", "64", "--iterations", "240", "--checkpoint", "20", "--positives", "2", "--shared-negatives", "4")
	r.must(r.train())
	want := r.hash()
	r.must(r.train("--seed", "2", "--force")) // the killed ones replace this run
	old, calls := r.hash(), 0
	traced(t, r.train("--force", "--seed", "2"), filepath.Dir(r.out), func(change) fate {
		calls++
		return passes
	})
	for killed, finished := 0, 0; killed < most || finished == 0; {
		cmd := r.resume("--threads", fmt.Sprint(1+rand.IntN(3)))
		// The old run alone: the last process was killed before it began.
		fresh := r.hash() == old && len(r.files()) == 7
		// Nor had it begun if there is no configuration yet. The old run may have its third
		// name: for a moment at the beginning, to see whether it can be moved, and at the end.
		_, err := os.Stat(filepath.Join(r.out+".partial", "config.toml"))
		if files := r.files(); fresh || err != nil && (slices.Contains(files, "run.partial") || !slices.Contains(files, "run.replaced")) {
			cmd = r.train("--force")
		}
		n, k := -1, rand.IntN(calls)
		code, said := traced(t, cmd, filepath.Dir(r.out), func(change) fate {
			if n++; n == k && killed < most {
				return kills
			}
			return passes
		})
		if code == -1 {
			killed++
			continue
		}
		if code != 0 {
			t.Fatalf("after %d kills: %s: exit code %d\n%s", killed, strings.Join(cmd.Args[1:], " "), code, said)
		}
		if finished++; r.hash() != want {
			t.Fatalf("after %d kills: other vectors than undisturbed", killed)
		}
		if r.checkFiles(); t.Failed() {
			t.FailNow()
		}
		r.must(r.train("--seed", "2", "--force"))
	}
}
