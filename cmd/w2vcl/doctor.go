package main

import (
	"runtime"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sys/cpu"

	"github.com/w2vcl/w2vcl/cmd/internal/cli"
	"github.com/w2vcl/w2vcl/internal/machine"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/train/cluster"
	"github.com/w2vcl/w2vcl/train/device"
	"github.com/w2vcl/w2vcl/train/settings"
)

// A diagnosis is the object that doctor --json prints.
type diagnosis struct {
	build
	Processors      int      `json:"processors"`
	Threads         int      `json:"threads"`
	Features        []string `json:"cpu_features"`
	MemoryTotal     int64    `json:"memory_total_bytes"`
	MemoryAvailable int64    `json:"memory_available_bytes"`
	Modes           []string `json:"modes"`

	Devices     []device.Info `json:"devices"`                // GPUs
	Driver      string        `json:"cuda_driver,omitempty"`  // CUDA version of the driver
	DeviceError string        `json:"device_error,omitempty"` // why there are no devices

	MPI       *cluster.MPILibrary `json:"mpi,omitempty"`        // that several ranks would use
	MPIError  string              `json:"mpi_error,omitempty"`  // why there is none
	NCCL      *device.NCCLLibrary `json:"nccl,omitempty"`       // that GPUs of several ranks would use
	NCCLError string              `json:"nccl_error,omitempty"` // why there is none

	Launcher string `json:"launcher,omitempty"` // that started this process, as one of Ranks
	Rank     int    `json:"rank,omitempty"`     // 0 is left out
	Ranks    int    `json:"ranks,omitempty"`
	Binding  string `json:"binding,omitempty"` // a warning
}

func newDoctor(s cli.Streams) *cobra.Command {
	return newReport(s, "doctor", "Show the features of this machine and of this build", diagnose)
}

// newReport returns a command without arguments that prints what look returns.
func newReport[R interface{ print(s cli.Streams) error }](s cli.Streams, use, short string, look func() R) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   use,
		Short: short,
		Args:  cli.Exactly(),
		RunE: func(*cobra.Command, []string) error {
			report := look()
			if asJSON {
				return cli.WriteJSON(s.Out, report)
			}
			return report.print(s)
		},
	}
	cli.AddJSON(cmd, &asJSON, "print one line of JSON")
	return cmd
}

func diagnose() diagnosis {
	total, available := machine.Memory()
	d := diagnosis{
		build:      thisBuild(),
		Processors: runtime.NumCPU(), Threads: runtime.GOMAXPROCS(0), Features: features(),
		MemoryTotal: total, MemoryAvailable: available,
		Modes: settings.ModeNames(), Devices: []device.Info{},
	}
	if devices, driver, err := device.List(); err == nil {
		d.Devices, d.Driver = devices, driver
	} else {
		d.DeviceError = err.Error()
	}
	if library, err := cluster.FindMPI(); err == nil {
		d.MPI = &library
	} else {
		d.MPIError = err.Error()
	}
	if library, err := device.NCCL(); err == nil {
		d.NCCL = &library
	} else {
		d.NCCLError = err.Error()
	}
	l := cluster.Launched()
	d.Launcher, d.Rank, d.Ranks, d.Binding = l.Launcher, l.Rank, l.Size, l.CheckBinding(runtime.NumCPU(), machine.Processors(), 0)
	return d
}

// features lists the instruction sets of this processor that kernels may use.
func features() []string {
	found := []string{}
	for _, f := range []struct {
		name string
		has  bool
	}{
		{"AVX2", cpu.X86.HasAVX2}, {"FMA", cpu.X86.HasFMA},
		{"AVX512F", cpu.X86.HasAVX512F}, {"AVX512DQ", cpu.X86.HasAVX512DQ},
		{"AVX512BW", cpu.X86.HasAVX512BW}, {"AVX512VL", cpu.X86.HasAVX512VL},
		{"NEON", cpu.ARM64.HasASIMD}, {"SVE", cpu.ARM64.HasSVE},
	} {
		if f.has {
			found = append(found, f.name)
		}
	}
	return found
}

// peersOf tells which other GPUs' memory a GPU can use.
func peersOf(g device.Info) string {
	if len(g.Peers) == 0 {
		return "uses the memory of no other GPU: with others it trains by NCCL"
	}
	peers := make([]string, len(g.Peers))
	for i, n := range g.Peers {
		peers[i] = strconv.Itoa(n)
	}
	return "uses the memory of GPU " + strings.Join(peers, ", ") + ": they can train together"
}

func (d diagnosis) print(s cli.Streams) error {
	known := func(bytes int64) string {
		if bytes == 0 {
			return "unknown"
		}
		return terminal.Bytes(bytes)
	}
	orNone := func(list []string) string {
		if len(list) == 0 {
			return "none"
		}
		return strings.Join(list, ", ")
	}
	var out cli.Table
	out.Rowf("w2vcl\t%s", d.Version)
	out.Rowf("Go\t%s, %s", d.Go, d.System)
	out.Rowf("processors\t%d (%d used by default)", d.Processors, d.Threads)
	out.Rowf("CPU features\t%s", orNone(d.Features))
	out.Rowf("kernels in use\t%s", d.Kernels)
	out.Rowf("memory\t%s, %s available", known(d.MemoryTotal), known(d.MemoryAvailable))
	out.Rowf("build tags\t%s", orNone(d.Tags))
	out.Rowf("modes\t%s", orNone(d.Modes))
	if d.DeviceError != "" {
		out.Rowf("GPU\tnone in use: %s", d.DeviceError)
	}
	for _, g := range d.Devices {
		kernels := "--device cuda:" + strconv.Itoa(g.Ordinal)
		if !g.Usable {
			kernels = "no kernels: they need compute capability 8.0"
		}
		out.Rowf("GPU %d\t%s, %s, compute capability %s, driver for CUDA %s (%s)",
			g.Ordinal, g.Name, terminal.Bytes(g.Memory), g.Capability, d.Driver, kernels)
		if len(d.Devices) > 1 {
			out.Rowf("\t%s", peersOf(g))
		}
	}
	if d.MPI != nil {
		out.Rowf("MPI\t%s (%s, with the ABI of %s)", d.MPI.Version, d.MPI.File, d.MPI.ABI)
	} else {
		out.Rowf("MPI\tnone in use: %s", d.MPIError)
	}
	if d.NCCL != nil {
		out.Rowf("NCCL\t%s (%s)", d.NCCL.Version, d.NCCL.File)
	} else if d.CUDA {
		out.Rowf("NCCL\tnone in use: %s", d.NCCLError)
	}
	if d.Launcher != "" {
		out.Rowf("launcher\t%s, rank %d of %d", d.Launcher, d.Rank, d.Ranks)
	}
	if d.Binding != "" {
		out.Rowf("binding\t%s", d.Binding)
	}
	return out.Print(s.Out)
}
