package rules

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// scripts returns the shell scripts of docs/cluster.md: of its indented blocks those that begin with #!, and what the launcher of the MPIJob
// runs.
func scripts(t *testing.T) (all []string) {
	t.Helper()
	data := read(t, filepath.Join(root, "docs", "cluster.md"))
	block := regexp.MustCompile(`(?m)^    #!/bin/bash\n(?:(?:    .*)?\n)*`)
	launcher := regexp.MustCompile(`(?s)args:\n +- \|\n(.*?)\n    Worker:`)
	indented := regexp.MustCompile(`(?m)^ +`)
	all = block.FindAllString(data, -1)
	if found := launcher.FindStringSubmatch(data); found != nil {
		all = append(all, strings.ReplaceAll(found[1], "/data/", ""))
	}
	for i := range all {
		all[i] = indented.ReplaceAllString(all[i], "")
	}
	return all
}

// standIn is srun, mpirun and scontrol, which tell what they are called with. A job ends as the file status says.
const standIn = `#!/bin/bash
echo "${0##*/} $*" >>calls
[[ $0 == *scontrol ]] || exit "$(<status)"
`

// TestScripts: the scripts for clusters train, resume what is there, go back into the queue when they were interrupted, and fail with the job.
func TestScripts(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil || runtime.GOOS == "windows" {
		t.Skip("scripts for clusters are for other systems, and bash: ", err)
	}
	all := scripts(t)
	if len(all) != 3 {
		t.Fatalf("docs/cluster.md has %d scripts", len(all))
	}
	for number, script := range all {
		for _, x := range []struct {
			there, status, calls string
			requeued             bool
		}{
			{"", "0", " w2vcl train --corpus ", false},
			{"", "130", " w2vcl train --corpus ", true},
			{"", "1", " w2vcl train --corpus ", false},
			{"runs/wiki", "0", " w2vcl resume runs/wiki", false},
			{"runs/wiki.partial", "130", " w2vcl resume runs/wiki", true},
		} {
			dir := t.TempDir()
			run := x.there
			if strings.Contains(script, "SLURM_ARRAY_TASK_ID") {
				run = strings.Replace(run, "wiki", "wiki-3", 1)
			}
			err := errors.Join(os.MkdirAll(filepath.Join(dir, run), 0o700), os.WriteFile(filepath.Join(dir, "status"), []byte(x.status), 0o600))
			for _, name := range []string{"srun", "mpirun", "scontrol"} {
				err = errors.Join(err, os.WriteFile(filepath.Join(dir, name), []byte(standIn), 0o700)) //nolint:gosec // a program
			}
			if err != nil {
				t.Fatal(err)
			}
			job := exec.Command(bash, "-c", script)
			job.Dir = dir
			job.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "SLURM_CPUS_PER_TASK=2", "SLURM_JOB_ID=7", "SLURM_ARRAY_JOB_ID=7", "SLURM_ARRAY_TASK_ID=3")
			out, _ := job.CombinedOutput()
			calls, _ := os.ReadFile(filepath.Join(dir, "calls"))
			slurm, want := strings.Contains(script, "scontrol"), x.status
			if slurm && x.requeued {
				want = "0"
			}
			status, requeued := job.ProcessState.String(), strings.Contains(string(calls), "scontrol requeue 7")
			if status != "exit status "+want || requeued != (slurm && x.requeued) || !strings.Contains(string(calls), x.calls) || len(out) > 0 {
				t.Errorf("script %d, a job that ends with %s, %q is there: %s, calls %q, output %q", number, x.status, x.there, status, calls, out)
			}
		}
	}
}
