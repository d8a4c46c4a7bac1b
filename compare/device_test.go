package compare

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/compare/experiment"
	"github.com/w2vcl/w2vcl/sequential"
	"github.com/w2vcl/w2vcl/train/device"
	"github.com/w2vcl/w2vcl/train/device/devicetest"
	"github.com/w2vcl/w2vcl/train/progress"
	"github.com/w2vcl/w2vcl/train/settings"
)

// fakeDevice puts a device that computes on the CPU in the place of GPUs.
func fakeDevice(t *testing.T) *devicetest.Device {
	t.Helper()
	d := devicetest.New()
	open, built := device.Open, device.Built
	device.Open = func(string) (device.Device, error) { d.Open = 1; return d, nil }
	device.Built = true
	t.Cleanup(func() { device.Open, device.Built = open, built })
	return d
}

// TestFinishBeside: whoever asks how the judging went gets the answer, also the second time.
func TestFinishBeside(t *testing.T) {
	e := &executor{judge: &judge{data: t.TempDir()}}
	run := experiment.Run{Config: settings.Config{Run: settings.Run{Out: filepath.Join(t.TempDir(), "lost")}}}
	wait := e.finishBeside(t.Context(), run, &Record{})
	for range 2 {
		if err := wait(); err == nil || !strings.Contains(err.Error(), "lost") {
			t.Errorf("a lost run: error %v", err)
		}
	}
}

// TestDevice: a comparison on a GPU has the scores of one on the CPU; runs are judged while
// others train, and those that share M build it once.
func TestDevice(t *testing.T) {
	d := fakeDevice(t)
	small := func() experiment.Options {
		o := smallComparison(t, settings.ModeCL, string(sequential.FullW2V))
		o.Settings["contexts"], o.Settings["negative"] = "60", "4"
		own, err := experiment.ParseVariant("host: mode=cl,device=cpu")
		if err != nil {
			t.Fatal(err)
		}
		shares, err := experiment.ParseVariant("k3: mode=cl,negative=3")
		if err != nil {
			t.Fatal(err)
		}
		o.Variants = append(o.Variants, own, shares)
		return o
	}
	o := small()
	o.Settings["device"] = "cuda"
	var shown bytes.Buffer
	r := reported(t, o, progress.New(&shown))
	if d.Open != 0 {
		t.Errorf("%d of the device and its kernels are open", d.Open)
	}
	if n := strings.Count(shown.String(), "Matrix M:"); n != o.Seeds {
		t.Errorf("M was built %d times for %d seeds:\n%s", n, o.Seeds, &shown)
	}
	for i, want := range []string{"Test GPU", "Test GPU", "", "Test GPU"} {
		if got := r.Variants[i].Device; got != want {
			t.Errorf("%s was on %q", r.Variants[i].Name, got)
		}
	}
	for k := range o.Seeds {
		n := len(r.Variants)
		if a, b := r.Runs[k*n].Summary.SecondsMatrix, r.Runs[k*n+3].Summary.SecondsMatrix; a <= 0 || a != b {
			t.Errorf("seed %d: M took %v and %v s", k+1, a, b)
		}
	}
	// The CPU trains the same but for rounding.
	for i := range r.Sets {
		if a, b := r.Variants[0].Scores[i].Mean, r.Variants[2].Scores[i].Mean; r.Sets[i].Main && (a-b > 0.1 || b-a > 0.1) {
			t.Errorf("%s: %v on the GPU, %v on the CPU", r.Sets[i].Dataset, a, b)
		}
	}
	page := read(t, filepath.Join(o.Out, PageFile))
	for _, want := range []string{"Trained on Test GPU: cl, fullw2v, k3.", "A run on a GPU was scored while the next one trained", "<td>GPU memory</td>", "device cpu"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	// Any GPU goes on with it, the CPU does not.
	o.Settings["device"] = "cuda:1"
	shown.Reset()
	summarized(t, o, progress.New(&shown))
	if strings.Count(shown.String(), "done before") != len(r.Runs) {
		t.Errorf("another GPU:\n%s", &shown)
	}
	o.Variants = o.Variants[:2]
	delete(o.Settings, "device")
	if _, err := Execute(t.Context(), o, Means{}); err == nil || !strings.Contains(err.Error(), "has --device cuda, not cpu") {
		t.Errorf("the CPU: %v", err)
	}
}

// TestEqualOnDevice: all runs are as long as the first. This holds on a GPU as well, where a run is judged while the next one trains. There are so
// many questions that judging takes longer than the second run takes to begin.
func TestEqualOnDevice(t *testing.T) {
	fakeDevice(t)
	o := smallComparison(t, string(sequential.FullW2V), string(sequential.PWord2Vec))
	o.Seeds, o.Points, o.Settings["device"] = 1, 1, "cuda"
	o.Budget = experiment.Budget{Kind: experiment.BudgetPairs}
	questions := filepath.Join(o.Data, "questions.txt")
	if err := os.WriteFile(questions, []byte(strings.Repeat(read(t, questions), 60)), 0o600); err != nil {
		t.Fatal(err)
	}
	r := summarized(t, o, nil)
	pairs := func(run int) float64 { s := r.Runs[run].Summary; return s.PairsPerSecond * s.SecondsTrain }
	if first, second := pairs(0), pairs(1); second < 0.8*first || second > 1.2*first { // a unit of this text is a large part
		t.Errorf("%v pairs, the first variant has %v", second, first)
	}
}
