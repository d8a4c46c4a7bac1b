package compare

import (
	"runtime"
	"time"

	"github.com/w2vcl/w2vcl/internal/machine"
	"github.com/w2vcl/w2vcl/kernels/simd"
)

// A Machine describes the machine that a result was measured on.
type Machine struct {
	Processor  string  `json:"processor"`  // model name; "" if unknown
	Processors int     `json:"processors"` // that the system shows this process
	Threads    int     `json:"gomaxprocs"` // processors that Go uses at the same time
	Kernels    string  `json:"kernels"`    // best instructions of the kernels
	Go         string  `json:"go"`
	System     string  `json:"system"`
	Load       float64 `json:"load_average"` // of the minute before, of all processes; -1: unknown
	Date       string  `json:"date"`         // RFC 3339, UTC
}

func thisMachine() Machine {
	hardware := machine.Describe()
	return Machine{
		Processor: hardware.Processor, Load: hardware.Load,
		Processors: runtime.NumCPU(), Threads: runtime.GOMAXPROCS(0), Kernels: string(simd.Current()),
		Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH,
		Date: time.Now().UTC().Format(time.RFC3339),
	}
}
