// Package counters reads the hardware counters of GPU kernels: it runs programs under NVIDIA's
// Nsight Compute (ncu), and draws the kernels below the roofs of the GPU.
//
// Start with [Profile] and [Read].
package counters

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// metrics are what ncu counts, by its names.
var metrics = []string{
	metricTime, metricSM, metricMemory, metricL1, metricL2, metricL2Share, metricDRAM, metricDRAMShare,
	metricIPC, metricIssue, metricEligible, metricWarps, metricRegisters,
	metricAdd, metricMultiply, metricFMA, metricFMAShare, metricHalf, metricBrain, metricWaits, metricBarrier,
}

const (
	metricTime      = "gpu__time_duration.sum"
	metricSM        = "sm__throughput.avg.pct_of_peak_sustained_elapsed"
	metricMemory    = "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"
	metricL1        = "l1tex__t_bytes.sum"
	metricL2        = "lts__t_bytes.sum"
	metricL2Share   = "lts__t_bytes.sum.pct_of_peak_sustained_elapsed"
	metricDRAM      = "dram__bytes.sum"
	metricDRAMShare = "dram__bytes.sum.pct_of_peak_sustained_elapsed"
	metricIPC       = "sm__inst_executed.avg.per_cycle_active"
	metricIssue     = "smsp__issue_active.avg.pct_of_peak_sustained_active"
	metricEligible  = "smsp__warps_eligible.avg.per_cycle_active"
	metricWarps     = "sm__warps_active.avg.pct_of_peak_sustained_active"
	metricRegisters = "launch__registers_per_thread"
	metricAdd       = "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum"
	metricMultiply  = "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum"
	metricFMA       = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"
	metricFMAShare  = "sm__sass_thread_inst_executed_op_ffma_pred_on.sum.pct_of_peak_sustained_elapsed"
	metricHalf      = "sm__ops_path_tensor_src_fp16.sum"
	metricBrain     = "sm__ops_path_tensor_src_bf16_dst_fp32.sum"
	metricWaits     = "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio"
	metricBarrier   = "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio"
)

// A Kernel is what the longest launch of a kernel did, of those that were counted. Shares are of
// the GPU's peak, from 0 to 1.
type Kernel struct {
	Program  string  `json:"program"` // that launched it
	Name     string  `json:"name"`
	Launches int     `json:"launches"` // that were counted
	Seconds  float64 `json:"seconds"`  // it begins with cold caches

	// Throughput.
	SM     float64 `json:"sm"`     // of the busiest part of the multiprocessors
	Memory float64 `json:"memory"` // of the busiest part of caches and memory
	IPC    float64 `json:"ipc"`    // instructions a cycle of a multiprocessor
	Flops  float64 `json:"flops"`  // float32's, and the tensor cores'

	// Demand for memory.
	L1        float64 `json:"l1_bytes"`
	L2        float64 `json:"l2_bytes"`
	DRAM      float64 `json:"dram_bytes"`
	L2Share   float64 `json:"l2"`
	DRAMShare float64 `json:"dram"`

	// Issue slots.
	Issue     float64 `json:"issue"`     // share of the slots in which an instruction was issued
	Eligible  float64 `json:"eligible"`  // warps that could issue, of a scheduler, a cycle
	Warps     float64 `json:"warps"`     // share of the warps that a multiprocessor can hold
	Registers float64 `json:"registers"` // of a thread
	Waits     float64 `json:"waits"`     // cycles that a warp waits for memory, for each instruction issued
	Barriers  float64 `json:"barriers"`  // the same at barriers

	FMAShare float64 `json:"fma"` // share of the peak of float32
	fma      float64 // multiplications and additions as one instruction
}

// marker begins the lines before the counters of each program in a file of several.
const marker = "==PROGRAM== "

// ReadAll reads the counters of several programs, as Profile has collected them.
func ReadAll(r io.Reader) ([]Kernel, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("read counters: %w", err)
	}
	var all []Kernel
	for _, part := range strings.Split("\n"+string(text), "\n"+marker)[1:] {
		name, rest, _ := strings.Cut(part, "\n")
		kernels, err := Read(strings.NewReader(rest), name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, kernels...)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("there is no line %q: these are no counters of w2vcl bench kernels", strings.TrimSpace(marker))
	}
	return all, nil
}

// Read reads what ncu has printed with --csv --page raw, or the file of its --log-file, and
// returns the kernels by falling time. Errors name the line: no table, a metric that is missing, a
// value that is no number.
func Read(r io.Reader, program string) ([]Kernel, error) {
	all, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("read counters: %w", err)
	}
	skipped := 0
	var table strings.Builder
	for line := range strings.Lines(string(all)) {
		if strings.HasPrefix(line, `"`) {
			table.WriteString(line)
		} else if table.Len() == 0 {
			skipped++ // what ncu and the program say before the table
		}
	}
	rows, err := csv.NewReader(strings.NewReader(table.String())).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("counters after line %d: %w", skipped, err)
	}
	if len(rows) < 3 {
		return nil, errors.New("ncu has counted no kernel: " + lastWords(string(all)))
	}
	columns := map[string]int{}
	for i, name := range rows[0] {
		columns[name] = i
	}
	at, ok := columns["Kernel Name"]
	if !ok {
		return nil, errors.New("counters: there is no column Kernel Name")
	}
	longest := map[string]Kernel{}
	for i, row := range rows[2:] { // rows[1] has the units
		name, _, _ := strings.Cut(row[at], "(")
		k := Kernel{Program: program, Name: name, Launches: 1 + longest[name].Launches}
		err := k.read(func(metric string) (float64, error) {
			column, ok := columns[metric]
			if !ok {
				return 0, errors.New("there is no such column")
			}
			return number(row[column], rows[1][column])
		})
		if err != nil {
			return nil, fmt.Errorf("counters, line %d: %w", skipped+i+3, err)
		}
		if before := longest[name]; before.Seconds >= k.Seconds {
			before.Launches = k.Launches
			k = before
		}
		longest[name] = k
	}
	kernels := slices.Collect(maps.Values(longest))
	slices.SortFunc(kernels, func(a, b Kernel) int {
		return cmp.Or(-cmp.Compare(a.Seconds, b.Seconds), strings.Compare(a.Name, b.Name))
	})
	return kernels, nil
}

// lastWords returns the last line that says something.
func lastWords(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

// units are the factors of ncu's units; others are 1.
var units = map[string]float64{
	"ns": 1e-9, "nsecond": 1e-9, "us": 1e-6, "usecond": 1e-6, "ms": 1e-3, "msecond": 1e-3,
	"Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9, "%": .01,
}

// number reads a value, which may have commas between groups of digits. A counter that this GPU
// has not is 0.
func number(text, unit string) (float64, error) {
	if text == "" || text == "n/a" || text == "nan" {
		return 0, nil
	}
	x, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
	if factor, ok := units[unit]; ok {
		x *= factor
	}
	return x, err
}

// read sets the values of a launch.
func (k *Kernel) read(value func(metric string) (float64, error)) error {
	var add, multiply, half, brain float64
	for metric, to := range map[string]*float64{
		metricTime: &k.Seconds, metricSM: &k.SM, metricMemory: &k.Memory, metricIPC: &k.IPC, metricL1: &k.L1, metricL2: &k.L2, metricDRAM: &k.DRAM,
		metricL2Share: &k.L2Share, metricDRAMShare: &k.DRAMShare, metricIssue: &k.Issue, metricEligible: &k.Eligible, metricWarps: &k.Warps,
		metricRegisters: &k.Registers, metricWaits: &k.Waits, metricBarrier: &k.Barriers, metricFMAShare: &k.FMAShare, metricFMA: &k.fma,
		metricAdd: &add, metricMultiply: &multiply, metricHalf: &half, metricBrain: &brain,
	} {
		x, err := value(metric)
		if err != nil {
			return fmt.Errorf("%s: %w", metric, err)
		}
		*to = x
	}
	k.Flops = add + multiply + 2*k.fma + half + brain
	return nil
}

// A Roof is a bound of the GPU, as its counters have it.
type Roof struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"` // bytes or float32 operations a second
}

// Roofs returns the peaks of memory, of L2 and of float32 arithmetic: what the kernel that came
// nearest reached, by the share of the peak that this was. A peak that no kernel shows is NaN.
func Roofs(kernels []Kernel) (dram, l2, float32s Roof) {
	peak := func(name string, amount, share func(k Kernel) float64) Roof {
		roof, best := Roof{name, math.NaN()}, 0.0
		for _, k := range kernels {
			if s := share(k); s > best && k.Seconds > 0 {
				best, roof.Value = s, amount(k)/k.Seconds/s
			}
		}
		return roof
	}
	return peak("memory", func(k Kernel) float64 { return k.DRAM }, func(k Kernel) float64 { return k.DRAMShare }),
		peak("L2", func(k Kernel) float64 { return k.L2 }, func(k Kernel) float64 { return k.L2Share }),
		peak("float32", func(k Kernel) float64 { return 2 * k.fma }, func(k Kernel) float64 { return k.FMAShare })
}
