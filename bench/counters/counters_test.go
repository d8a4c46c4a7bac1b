package counters

import (
	"bytes"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/compare/report"
)

// kept are counters as ncu wrote them on an H200.
func kept(t *testing.T) []Kernel {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "counters.txt"))
	if err != nil {
		t.Fatal(err)
	}
	kernels, err := ReadAll(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return kernels
}

func TestReadAll(t *testing.T) {
	kernels := kept(t)
	if len(kernels) != 2 {
		t.Fatalf("%d kernels, want 2", len(kernels))
	}
	got := kernels[0]
	got.fma = 0
	want := Kernel{
		Program: "fullw2v W_f 5 half", Name: "fullw2v_half_1_2", Launches: 2, Seconds: 4.578624e-3,
		SM: .5091, Memory: .7163, IPC: 2.17, Flops: 972665760 + 1423024563 + 2*7727902464 + 459379507200,
		L1: 10300213824, L2: 14701261312, DRAM: 295171328, L2Share: .2081, DRAMShare: .0134,
		Issue: .5649, Eligible: .89, Warps: .1641, Registers: 168, Waits: .48, FMAShare: .0555,
	}
	for _, pair := range [][2]float64{
		{got.Seconds, want.Seconds}, {got.SM, want.SM}, {got.Memory, want.Memory}, {got.IPC, want.IPC}, {got.Flops, want.Flops}, {got.L1, want.L1}, {got.L2, want.L2},
		{got.DRAM, want.DRAM}, {got.L2Share, want.L2Share}, {got.DRAMShare, want.DRAMShare}, {got.Issue, want.Issue}, {got.Eligible, want.Eligible},
		{got.Warps, want.Warps}, {got.Registers, want.Registers}, {got.Waits, want.Waits}, {got.Barriers, want.Barriers}, {got.FMAShare, want.FMAShare},
	} {
		if math.Abs(pair[0]-pair[1]) > 1e-9*math.Abs(pair[1]) {
			t.Errorf("value %v, want %v", pair[0], pair[1])
		}
	}
	if got.Program != want.Program || got.Name != want.Name || got.Launches != want.Launches {
		t.Errorf("kernel %+v", got)
	}
}

func TestReadErrors(t *testing.T) {
	head := `"Kernel Name","` + strings.Join(metrics, `","`) + `"` + "\n"
	row := strings.Repeat(`,"1"`, len(metrics)) + "\n"
	units := `""` + strings.Repeat(`,""`, len(metrics)) + "\n"
	for name, x := range map[string]struct{ text, want string }{
		"nothing":        {"==ERROR== no kernels were profiled\n", "no kernels were profiled"},
		"no row":         {head + units, "counted no kernel"},
		"no number":      {"==PROF== x\n" + head + units + `"k"` + row + `"k"` + strings.Replace(row, `"1"`, `"much"`, 1), "counters, line 5"},
		"missing column": {strings.Replace(head, metricL2, "other", 1) + units + `"k"` + row, metricL2},
		"no names":       {strings.Replace(head, "Kernel Name", "other", 1) + units + `"k"` + row, "Kernel Name"},
		"damaged":        {head + units + `"k` + row, "counters after line 0"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Read(strings.NewReader(x.text), "p"); err == nil || !strings.Contains(err.Error(), x.want) {
				t.Errorf("error %v, want one with %q", err, x.want)
			}
		})
	}
	if _, err := ReadAll(strings.NewReader("text")); err == nil || !strings.Contains(err.Error(), "==PROGRAM==") {
		t.Errorf("error %v", err)
	}
	kernels, err := Read(strings.NewReader(head+units+`"k(int)"`+row), "p")
	if err != nil || len(kernels) != 1 || kernels[0].Name != "k" || kernels[0].Flops != 6 {
		t.Errorf("kernels %+v, %v", kernels, err)
	}
}

// The peaks of an H200: 4.8 TB/s of memory; 132 multiprocessors of 128 float32 units at up to 1.98 GHz.
func TestRoofs(t *testing.T) {
	dram, l2, float32s := Roofs(kept(t))
	if !(dram.Value > 4.5e12 && dram.Value < 5.1e12) {
		t.Errorf("memory %v B/s", dram.Value)
	}
	if !(l2.Value > 1e13 && l2.Value < 2e13) {
		t.Errorf("L2 %v B/s", l2.Value)
	}
	if !(float32s.Value > 4e13 && float32s.Value < 7e13) {
		t.Errorf("float32 %v/s", float32s.Value)
	}
	if _, none, _ := Roofs(nil); !math.IsNaN(none.Value) {
		t.Errorf("without kernels %v", none.Value)
	}
}

func TestRoofline(t *testing.T) {
	for _, memory := range []bool{false, true} {
		chart := Roofline(kept(t), memory)
		if len(chart.Series) != 3 {
			t.Fatalf("%d series", len(chart.Series))
		}
		roof := chart.Series[0].Points
		for _, s := range chart.Series[1:] {
			p := s.Points[0]
			if p.Y > roof[2].Y*10 || !(p.X >= roof[0].X && p.X <= roof[2].X) { // tensor cores are above the roof of float32
				t.Errorf("%s at %v, %v; the roof goes from %v to %v", s.Name, p.X, p.Y, roof[0], roof[2])
			}
		}
		var b bytes.Buffer
		if err := report.WriteSVG(&b, chart); err != nil || !strings.Contains(b.String(), "parw2v_1_0_1_8") {
			t.Errorf("%v, %d bytes", err, b.Len())
		}
	}
	if chart := Roofline(nil, false); len(chart.Series) > 0 {
		t.Error("a chart without kernels has series")
	}
}

func TestProfile(t *testing.T) {
	if _, err := FindProfiler(filepath.Join(t.TempDir(), "ncu")); !errors.Is(err, ErrNoProfiler) {
		t.Errorf("error %v", err)
	}
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip(err)
	}
	// A program in ncu's place writes the log, which is the file behind --log-file.
	sample, err := filepath.Abs(filepath.Join("testdata", "counters.txt"))
	if err != nil {
		t.Fatal(err)
	}
	fake := func(script string) string {
		path := filepath.Join(t.TempDir(), "ncu")
		if err := os.WriteFile(path, []byte("#!"+shell+"\nwhile [ \"$1\" != --log-file ]; do shift; done\n"+script), 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	var raw bytes.Buffer
	kernels, err := Profile(t.Context(), fake(`head -7 "`+sample+`" | tail -n +2 >"$2"`), Program{"one", []string{"true"}, 2}, &raw)
	if err != nil || len(kernels) != 1 || kernels[0].Program != "one" {
		t.Fatalf("kernels %+v, %v", kernels, err)
	}
	again, err := ReadAll(&raw)
	if err != nil || len(again) != 1 || again[0] != kernels[0] {
		t.Errorf("read again %+v, %v", again, err)
	}
	_, err = Profile(t.Context(), fake("echo no permission >&2; exit 3"), Program{"two", []string{"true"}, 0}, &raw)
	if err == nil || !strings.Contains(err.Error(), "count two") || !strings.Contains(err.Error(), "no permission") {
		t.Errorf("error %v", err)
	}
}
