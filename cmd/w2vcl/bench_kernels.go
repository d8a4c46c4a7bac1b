package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/w2vcl/w2vcl/bench/counters"
	"github.com/w2vcl/w2vcl/compare/report"
	"github.com/w2vcl/w2vcl/internal/atomicfile"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/testdata"
)

type benchKernelsOptions struct {
	benchFlags
	corpus, device, ncu, from, out string
	runs, peers                    []string
}

func newBenchKernels(s streams) *cobra.Command {
	var o benchKernelsOptions
	cmd := &cobra.Command{
		Use:   "kernels [flags]",
		Short: "Count what the GPU kernels of all modes do, with NVIDIA's Nsight Compute",
		Long: `Train a little with every mode under Nsight Compute (ncu), which reads the hardware's
counters, and print for each kernel: the time of a launch, throughput, demand for
memory and issue slots, as tables 4 to 6 of the FULL-W2V paper. A launch is longer
than in training, for ncu empties the caches before it. --peer counts the kernels of
another program, too.

With --out the folder gets counters.txt (what ncu wrote), kernels.csv (the table), and
roofline-l2.svg and roofline-memory.svg: operations a second by operations for a byte,
below the roofs of L2, of memory and of float32 arithmetic; kernels on tensor cores may
be above that one. --from reads counters.txt instead of counting; that needs no GPU.`,
		Example: `  w2vcl bench kernels --corpus wiki.txt --out counted
  w2vcl bench kernels --peer 'FULL-W2V=./full-w2v -train wiki.txt -output /dev/null'
  w2vcl bench kernels --from counted/counters.txt`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), s) },
	}
	flags := cmd.Flags()
	flags.StringVar(&o.corpus, "corpus", "", "train on the text at `PATH` (default: the text that comes with w2vcl)")
	flags.StringSliceVar(&o.runs, "runs", nil, "count these runs only: `LIST` of "+runNames())
	flags.StringVar(&o.device, "device", "cuda", "`NAME` of the GPU: cuda or cuda:N")
	flags.StringVar(&o.ncu, "ncu", "", "the `COMMAND` that starts Nsight Compute (default: ncu)")
	flags.StringArrayVar(&o.peers, "peer", nil, "also count the kernels of another program: `COMMAND` is its name in the tables, =, and the command; may be given several times")
	flags.StringVar(&o.from, "from", "", "read the counters.txt at `PATH` and count nothing")
	flags.StringVar(&o.out, "out", "", "write counters, table and roofline to the folder `DIR`")
	addJSON(cmd, &o.json, "print one line of JSON: an object with machine, settings and results")
	flags.BoolVar(&o.quiet, "quiet", false, "print no progress")
	return cmd
}

// countedRuns are the runs whose kernels are counted. Sentence-ordered modes have one kernel. They
// have many epochs, for then a launch trains a large part of the text, and end when it is counted.
// vanilla, whose launches are small, has little text.
var countedRuns = []struct {
	name, flags string
	launches    int
}{
	{"fullw2v", "--mode fullw2v --epochs 100", 2},
	{"fullw2v W_f 5", "--mode fullw2v --window 10 --epochs 100", 2},
	{"fullw2v half", "--mode fullw2v --precision half --epochs 100", 2},
	{"fullw2v W_f 5 half", "--mode fullw2v --window 10 --precision half --epochs 100", 2},
	{"fullregister", "--mode fullregister --epochs 100", 2},
	{"pword2vec", "--mode pword2vec --epochs 100", 2},
	{"word2vec", "--mode word2vec --epochs 100", 2},
	{"cbow", "--mode word2vec --model cbow --epochs 100", 2},
	{"parw2v", "--mode parw2v --epochs 100", 2},
	{"vanilla dense", "--mode vanilla --adam dense --epochs 1 --sample 1e-7 --dim 500 --min-count 50", 0},
	{"vanilla lazy", "--mode vanilla --epochs 1 --sample 1e-7 --dim 500 --min-count 50", 0},
	{"cl", "--iterations 40", 0},
	{"cl half", "--iterations 40 --precision half", 0},
	{"cl untempered", "--iterations 40 --tempering 0 --positives 1 --shared-negatives 0", 0},
	{"cl cnn", "--iterations 40 --subword cnn", 0},
	{"cl ngram", "--iterations 40 --subword ngram", 0},
}

// runNames lists the runs.
func runNames() string {
	var names []string
	for _, run := range countedRuns {
		names = append(names, run.name)
	}
	return strings.Join(names, ", ")
}

// kernelsSettings are the settings in the JSON.
type kernelsSettings struct {
	Corpus string `json:"corpus"` // "": the text that comes with w2vcl
	Device string `json:"device"`
	From   string `json:"from"`
}

func (o *benchKernelsOptions) run(ctx context.Context, s streams) error {
	if o.corpus == "-" {
		return terminal.Usagef("--corpus -: every run reads the text; give a file")
	}
	for _, name := range o.runs {
		if !strings.Contains(", "+runNames()+", ", ", "+name+", ") {
			return terminal.Usagef("--runs %s: must be of %s", name, runNames())
		}
	}
	var kernels []counters.Kernel
	var raw bytes.Buffer
	r := o.begin(s, "kernels", kernelsSettings{o.corpus, o.device, o.from})
	var err error
	if o.from != "" {
		kernels, err = o.read()
	} else {
		kernels, err = o.count(ctx, s, &raw)
	}
	if err == nil && o.out != "" {
		err = o.write(kernels, raw.Bytes())
	}
	return o.finish(ctx, s, r, kernels, len(kernels), err, func() error { return printKernels(s, kernels) })
}

func (o *benchKernelsOptions) read() ([]counters.Kernel, error) {
	f, err := os.Open(o.from)
	if err != nil {
		return nil, fmt.Errorf("--from: %w", err)
	}
	kernels, err := counters.ReadAll(f)
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("--from %s: %w", o.from, err)
	}
	return kernels, nil
}

// count counts the kernels of all runs and peers. With an error it returns those until then.
func (o *benchKernelsOptions) count(ctx context.Context, s streams, raw *bytes.Buffer) (all []counters.Kernel, err error) {
	ncu, err := counters.FindProfiler(o.ncu)
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	folder, err := os.MkdirTemp("", "w2vcl-kernels-*")
	if err != nil {
		return nil, fmt.Errorf("count kernels: %w", err)
	}
	defer func() { _ = os.RemoveAll(folder) }() // in the system's temporary folder
	text := o.corpus
	if text == "" {
		text = filepath.Join(folder, "text")
		packed, err := io.ReadAll(testdata.Corpus())
		if err == nil {
			err = os.WriteFile(text, packed, 0o600)
		}
		if err != nil {
			return nil, fmt.Errorf("unpack the text: %w", err)
		}
	}
	var programs []counters.Program
	for _, run := range countedRuns {
		if len(o.runs) > 0 && !slices.Contains(o.runs, run.name) {
			continue
		}
		args := append([]string{self, "train", "--quiet", "--force", "--device", o.device, "--seed", "1", "--out", filepath.Join(folder, "run"), "--corpus", text}, strings.Fields(run.flags)...)
		programs = append(programs, counters.Program{Name: run.name, Args: args, Launches: run.launches})
	}
	for _, peer := range o.peers {
		name, command, _ := strings.Cut(peer, "=")
		if name == "" || len(strings.Fields(command)) == 0 {
			return nil, terminal.Usagef("--peer %q: must be NAME=COMMAND", peer)
		}
		programs = append(programs, counters.Program{Name: name, Args: strings.Fields(command)})
	}
	p := s.progress(o.quiet)
	for _, program := range programs {
		p.Notef("%s", program.Name)
		kernels, err := counters.Profile(ctx, ncu, program, raw)
		all = append(all, kernels...)
		if err != nil {
			return all, err
		}
	}
	return all, nil
}

// write writes the files of --out.
func (o *benchKernelsOptions) write(kernels []counters.Kernel, raw []byte) error {
	var table, l2, memory bytes.Buffer
	err := errors.Join(kernelTable(kernels).WriteCSV(&table), report.WriteSVG(&l2, counters.Roofline(kernels, false)), report.WriteSVG(&memory, counters.Roofline(kernels, true)))
	if err == nil {
		err = os.MkdirAll(o.out, 0o777)
	}
	files := map[string][]byte{"kernels.csv": table.Bytes(), "roofline-l2.svg": l2.Bytes(), "roofline-memory.svg": memory.Bytes()}
	if len(raw) > 0 {
		files["counters.txt"] = raw
	}
	for name, data := range files {
		if err == nil {
			err = atomicfile.Write(filepath.Join(o.out, name), func(w io.Writer) error { _, err := w.Write(data); return err })
		}
	}
	if err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	return nil
}

// kernelColumns are the columns of the tables of kernels.
var kernelColumns = []struct {
	title   string // of the table that begins here
	name    string
	content func(k counters.Kernel) string
}{
	{"Throughput", "µs", func(k counters.Kernel) string { return fmt.Sprintf("%.1f", 1e6*k.Seconds) }},
	{"", "Gop/s", func(k counters.Kernel) string { return fmt.Sprintf("%.0f", k.Flops/cmp.Or(k.Seconds, 1)/1e9) }},
	{"", "multiprocessors", func(k counters.Kernel) string { return percent(k.SM) }},
	{"", "memory system", func(k counters.Kernel) string { return percent(k.Memory) }},
	{"", "instructions a cycle", func(k counters.Kernel) string { return fmt.Sprintf("%.2f", k.IPC) }},
	{"Demand for memory", "L1 MB", func(k counters.Kernel) string { return megabytes(k.L1) }},
	{"", "L2 MB", func(k counters.Kernel) string { return megabytes(k.L2) }},
	{"", "of L2", func(k counters.Kernel) string { return percent(k.L2Share) }},
	{"", "memory MB", func(k counters.Kernel) string { return megabytes(k.DRAM) }},
	{"", "of memory", func(k counters.Kernel) string { return percent(k.DRAMShare) }},
	{"Issue slots", "used", func(k counters.Kernel) string { return percent(k.Issue) }},
	{"", "eligible warps", func(k counters.Kernel) string { return fmt.Sprintf("%.2f", k.Eligible) }},
	{"", "warps", func(k counters.Kernel) string { return percent(k.Warps) }},
	{"", "registers", func(k counters.Kernel) string { return fmt.Sprintf("%.0f", k.Registers) }},
	{"", "waits for memory", func(k counters.Kernel) string { return fmt.Sprintf("%.2f", k.Waits) }},
	{"", "waits at barriers", func(k counters.Kernel) string { return fmt.Sprintf("%.2f", k.Barriers) }},
}

// printKernels prints the kernels as three tables.
func printKernels(s streams, kernels []counters.Kernel) error {
	for i, first := range kernelColumns {
		if first.title == "" {
			continue
		}
		end := i + 1
		for end < len(kernelColumns) && kernelColumns[end].title == "" {
			end++
		}
		var out table
		head := "  run\tkernel"
		for _, c := range kernelColumns[i:end] {
			head += fmt.Sprintf("\t%12s", c.name)
		}
		out.rowf("%s", first.title)
		out.rowf("%s", head)
		for _, k := range kernels {
			row := "  " + k.Program + "\t" + k.Name
			for _, c := range kernelColumns[i:end] {
				row += fmt.Sprintf("\t%*s", max(12, len(c.name)), c.content(k))
			}
			out.rowf("%s", row)
		}
		out.rowf("")
		if err := out.writeTo(s.out); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(s.out, "Shares are of the GPU's peak. Waits are cycles of a warp for each instruction issued.")
	return err
}

// kernelTable is the table of all kernels for a file.
func kernelTable(kernels []counters.Kernel) report.Table {
	t := report.Table{Name: "kernels", Title: "Counters of the longest launch of each kernel", Head: []string{"run", "kernel"}}
	for _, c := range kernelColumns {
		t.Head = append(t.Head, c.name)
	}
	for _, k := range kernels {
		row := []report.Cell{{Text: k.Program}, {Text: k.Name}}
		for _, c := range kernelColumns {
			row = append(row, report.Cell{Text: c.content(k)})
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func megabytes(bytes float64) string { return fmt.Sprintf("%.2f", bytes/1e6) }
