package train

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/train/device"
	"github.com/w2vcl/w2vcl/train/device/devicetest"
	"github.com/w2vcl/w2vcl/train/progress"
	"github.com/w2vcl/w2vcl/train/settings"
)

// A run of skip-gram in mode cl goes on on any number of GPUs to the same bits, and tells of the memory of each.
func TestSeveralDevices(t *testing.T) {
	d := fakeDevice(t)
	device.Open = func(name string) (device.Device, error) {
		ordinals, err := device.Ordinals(name)
		d.Open, d.Parts = 1, len(ordinals)
		return d, err
	}
	for _, tempered := range []bool{true, false} {
		c := smallConfig(t, settings.ModeCL)
		c.Dim = 40
		c.Epochs *= 6
		if !tempered {
			c.Tempering, c.Positives, c.SharedNegatives = 0, 1, 0
		}
		testSeveralDevices(t, d, c)
	}
	c := subwordConfig(t, settings.ModeCL, "cnn")
	c.Epochs *= 6
	testSeveralDevices(t, d, c)
}

func testSeveralDevices(t *testing.T, d *devicetest.Device, c settings.Config) {
	c.Device = "cuda"
	want := vectorsOf(t, c)
	for _, devices := range [][2]string{{"cuda:0,1", "cuda:3"}, {"cuda", "cuda:0,1,2,3"}, {"cuda:0,1,2,3,4,5,6,7", "cuda:1,cuda:0"}} {
		c.Device, c.Out = devices[0], filepath.Join(t.TempDir(), "run")
		interruptRun(t, c)
		var shown strings.Builder
		summary, err := Resume(t.Context(), nil, c.Out, map[string]string{"device": devices[1]}, nil, progress.New(&shown))
		if err != nil || d.Open != 0 {
			t.Fatalf("%v: error %v, %d of the device and its kernels are open", devices, err, d.Open)
		}
		if !slices.Equal(vectorsIn(t, c.Out), want) {
			t.Errorf("%v: other vectors than on one GPU", devices)
		}
		if several := strings.Contains(devices[1], ","); strings.Contains(shown.String(), " free on each GPU") != several || several != (summary.Memory.Devices > 1) {
			t.Errorf("%v: it says:\n%s", devices, shown.String())
		}
		if beyond := summary.Memory.Devices > 2 && c.Tempering > 0; strings.Contains(shown.String(), "4 GPUs are no faster than 2") != beyond {
			t.Errorf("%v, tempering %v: it says:\n%s", devices, c.Tempering, shown.String())
		}
	}
}

// More memory than each GPU has free is refused.
func TestSeveralDevicesMemory(t *testing.T) {
	d := fakeDevice(t)
	d.Parts, d.Free = 2, 1000
	c := smallConfig(t, settings.ModeCL)
	c.Tempering, c.Positives, c.SharedNegatives = 0, 1, 0
	c.Device = "cuda:0,1"
	if _, err := Run(t.Context(), c, Options{}, nil); err == nil || !strings.Contains(err.Error(), "of device memory on each GPU, but Test GPU has 1 kB free") {
		t.Errorf("error %v", err)
	}
}

// In the sentence-ordered modes several GPUs share the text: a run on some goes on on others, and says so.
func TestSeveralDevicesOfSentences(t *testing.T) {
	d := fakeDevice(t)
	device.Open = func(name string) (device.Device, error) {
		ordinals, err := device.Ordinals(name)
		d.Open, d.Parts = 1, len(ordinals)
		return d, err
	}
	c := smallConfig(t, "fullw2v")
	c.Epochs *= 6
	for _, devices := range [][2]string{{"cuda:0,1", "cuda:3"}, {"cuda", "cuda:0,1,2,3"}} {
		c.Device, c.Out = devices[0], filepath.Join(t.TempDir(), "run")
		interruptRun(t, c)
		summary, err := Resume(t.Context(), nil, c.Out, map[string]string{"device": devices[1]}, nil, nil)
		if err != nil || d.Open != 0 || !(summary.Loss > 0) {
			t.Fatalf("%v: loss %v, error %v, %d of the device and its kernels are open", devices, summary.Loss, err, d.Open)
		}
		if several := strings.Contains(devices[1], ","); several != (summary.Memory.Devices > 1) {
			t.Errorf("%v: memory of %d GPUs", devices, summary.Memory.Devices)
		}
	}
}
