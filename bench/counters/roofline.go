package counters

import (
	"fmt"
	"math"

	"github.com/w2vcl/w2vcl/compare/report"
)

// Roofline draws the kernels below the roofs of L2 or of memory and of float32 arithmetic (S.
// Williams et al., Roofline, 2009): operations a second by operations for a byte that comes from
// there. Kernels that compute nothing are left out.
func Roofline(kernels []Kernel, memory bool) report.LineChart {
	dram, slope, flat := Roofs(kernels)
	bytes := func(k Kernel) float64 { return k.L2 }
	if memory {
		slope, bytes = dram, func(k Kernel) float64 { return k.DRAM }
	}
	chart := report.LineChart{
		Title: "Kernels below the roofs of " + slope.Name + " and of float32 arithmetic",
		X:     "operations for a byte of " + slope.Name, Y: "operations a second", Log: true, LogY: true,
	}
	low, high := math.Inf(1), flat.Value/slope.Value // where the roofs meet
	var points []report.Series
	for _, k := range kernels {
		if k.Flops == 0 || k.Seconds == 0 || bytes(k) == 0 {
			continue
		}
		x, y := k.Flops/bytes(k), k.Flops/k.Seconds
		low, high = min(low, x), max(high, x)
		points = append(points, report.Series{Name: k.Program + ": " + k.Name, Color: 1 + len(points), Points: []report.Point{{X: x, Y: y, Low: y, High: y}}})
	}
	if len(points) == 0 || math.IsNaN(flat.Value) || math.IsNaN(slope.Value) {
		return chart
	}
	roof := report.Series{Name: fmt.Sprintf("roof: %s %sB/s, float32 %s/s", slope.Name, report.Short(slope.Value), report.Short(flat.Value))}
	for _, x := range []float64{low / 2, flat.Value / slope.Value, 2 * high} {
		y := min(x*slope.Value, flat.Value)
		roof.Points = append(roof.Points, report.Point{X: x, Y: y, Low: y, High: y})
	}
	chart.Series = append([]report.Series{roof}, points...)
	return chart
}
