package train

import (
	"errors"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/train/device"
	"github.com/w2vcl/w2vcl/train/device/devicetest"
	"github.com/w2vcl/w2vcl/train/progress"
	"github.com/w2vcl/w2vcl/train/runfolder"
	"github.com/w2vcl/w2vcl/train/settings"
)

// fakeDevice puts a device that computes on the CPU in the place of GPUs.
func fakeDevice(t *testing.T) *devicetest.Device {
	d := devicetest.New()
	open, built := device.Open, device.Built
	device.Open = func(string) (device.Device, error) { d.Open = 1; return d, nil }
	device.Built = true
	t.Cleanup(func() { device.Open, device.Built = open, built })
	return d
}

// nearFiles fails unless both word2vec files have the same words with vectors
// that are the same but for rounding.
func nearFiles(t *testing.T, got, want string) {
	t.Helper()
	a, err := embedding.Load(t.Context(), got)
	if err != nil {
		t.Fatal(err)
	}
	b, err := embedding.Load(t.Context(), want)
	if err != nil {
		t.Fatal(err)
	}
	var difference, norm float64
	for i, x := range b.Vectors {
		difference += math.Pow(float64(a.Vectors[i]-x), 2)
		norm += float64(x) * float64(x)
	}
	if strings.Join(a.Words, " ") != strings.Join(b.Words, " ") || !(difference <= 1e-6*norm) {
		t.Errorf("%s: relative difference %v", filepath.Base(got), math.Sqrt(difference/norm))
	}
}

// deviceConfigs are small runs of what devices train, by a name.
func deviceConfigs(t *testing.T) map[string]settings.Config {
	all := map[string]settings.Config{}
	for _, mode := range deviceModes {
		all[mode] = smallConfig(t, mode)
	}
	equal := smallConfig(t, settings.ModeCL)
	equal.Tempering, equal.Positives, equal.SharedNegatives = 0, 1, 0
	all["equal samples"] = equal
	for name := range subwordFlags {
		all[name] = subwordConfig(t, settings.ModeCL, name)
	}
	return all
}

// TestDevice: a run on a device leaves what a run on the CPU leaves.
func TestDevice(t *testing.T) {
	for name, config := range deviceConfigs(t) {
		t.Run(name, func(t *testing.T) {
			d := fakeDevice(t)
			c := config
			want, err := Run(t.Context(), c, Options{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			cpu := c.Out
			c.Device, c.Out = "cuda", c.Out+"-cuda"
			var shown strings.Builder
			got, err := Run(t.Context(), c, Options{}, progress.New(&shown))
			if err != nil {
				t.Fatal(err)
			}
			if d.Open != 0 {
				t.Errorf("%d of the device and its kernels are open", d.Open)
			}
			for _, name := range []string{runfolder.VectorsFile, runfolder.ContextFile} {
				nearFiles(t, filepath.Join(c.Out, name), filepath.Join(cpu, name))
			}
			if got.Device != "cuda" || got.DeviceName != "Test GPU" || got.PeakDevice != 12345678 {
				t.Errorf("summary %+v", got)
			}
			if math.Abs(got.Loss-want.Loss) > 1e-3*want.Loss || got.Iterations != want.Iterations {
				t.Errorf("loss %v after %d units, want %v after %d", got.Loss, got.Iterations, want.Loss, want.Iterations)
			}
			if !strings.Contains(shown.String(), "device  Test GPU: ") {
				t.Errorf("the plan does not tell of the device:\n%s", shown.String())
			}
		})
	}
}

// TestDeviceResume: a checkpoint of one device goes on on another, and on the
// same as if there had been no interrupt.
func TestDeviceResume(t *testing.T) {
	for name, c := range deviceConfigs(t) {
		t.Run(name, func(t *testing.T) {
			c.Epochs *= 6
			whole := c.Out
			if _, err := Run(t.Context(), c, Options{}, nil); err != nil {
				t.Fatal(err)
			}
			pairs := [][2]string{{"cuda", "cpu"}, {"cuda", "cuda:1"}, {"cpu", "cuda"}}
			if testing.Short() {
				pairs = pairs[:1]
			}
			for _, devices := range pairs {
				d := fakeDevice(t)
				c.Device, c.Out = devices[0], filepath.Join(t.TempDir(), "run")
				interruptRun(t, c)
				summary, err := Resume(t.Context(), nil, c.Out, map[string]string{"device": devices[1]}, nil, nil)
				if err != nil || summary.Device != devices[1] || summary.Interrupted {
					t.Fatalf("%v: %+v, %v", devices, summary, err)
				}
				if devices[1] != "cpu" && d.Open != 0 {
					t.Errorf("%v: %d of the device and its kernels are open", devices, d.Open)
				}
				for _, name := range []string{runfolder.VectorsFile, runfolder.ContextFile} {
					nearFiles(t, filepath.Join(c.Out, name), filepath.Join(whole, name))
				}
			}
		})
	}
}

// TestDevicePrecision: a run in half precision goes on in either, but on the CPU in
// float32 only.
func TestDevicePrecision(t *testing.T) {
	fakeDevice(t)
	c := smallConfig(t, settings.ModeCL)
	c.Epochs *= 6
	c.Device, c.Precision = "cuda", settings.PrecisionHalf
	for _, test := range []struct {
		changes map[string]string
		want    string // of the summary
	}{{nil, settings.PrecisionHalf}, {map[string]string{"precision": settings.PrecisionFloat32}, settings.PrecisionFloat32}, {map[string]string{"device": "cpu", "precision": settings.PrecisionFloat32}, ""}} {
		c.Out = filepath.Join(t.TempDir(), "run")
		interruptRun(t, c)
		_, err := Resume(t.Context(), nil, c.Out, map[string]string{"device": "cpu"}, nil, nil)
		wantUsage(t, err, "--precision half: the CPU has tables of float32 only")
		var shown strings.Builder
		summary, err := Resume(t.Context(), nil, c.Out, test.changes, nil, progress.New(&shown))
		if err != nil || summary.Precision != test.want {
			t.Fatalf("%v: precision %q, want %q, error %v", test.changes, summary.Precision, test.want, err)
		}
		told := strings.Contains(shown.String(), "--precision is float32 from here on; it was half")
		if told != (test.want != settings.PrecisionHalf) {
			t.Errorf("%v: it says:\n%s", test.changes, shown.String())
		}
	}
}

func TestDeviceErrors(t *testing.T) {
	gone := errors.New("the device fell off the bus")
	for _, mode := range deviceModes {
		for _, test := range []struct {
			name   string
			change func(*devicetest.Device, *settings.Config)
			want   string
		}{
			{"memory", func(d *devicetest.Device, _ *settings.Config) { d.Free = 1000 }, " MB of device memory, but Test GPU has 1 kB free of 1.10 TB: lower --dim (now 4)"},
			{"broken", func(d *devicetest.Device, _ *settings.Config) { d.Fail = gone }, gone.Error()},
			{"diverged", func(d *devicetest.Device, _ *settings.Config) { d.NotANumber = true }, "the loss became NaN"},
			{"none", func(*devicetest.Device, *settings.Config) {
				device.Open = func(string) (device.Device, error) { return nil, device.ErrNone }
			}, "--device cuda: " + device.ErrNone.Error()},
			{"none, and no text", func(_ *devicetest.Device, c *settings.Config) {
				device.Open = func(string) (device.Device, error) { return nil, device.ErrNone }
				c.Corpus += "x"
			}, "there is no such file"},
		} {
			t.Run(mode+"/"+test.name, func(t *testing.T) {
				d := fakeDevice(t)
				c := smallConfig(t, mode)
				c.Device = "cuda"
				test.change(d, &c)
				_, err := Run(t.Context(), c, Options{}, nil)
				if err == nil || !strings.Contains(err.Error(), test.want) {
					t.Errorf("error %v, want %q", err, test.want)
				}
				if err != nil && strings.HasPrefix(test.want, "--device") && err.Error() != test.want { // the text has nothing to do with it
					t.Errorf("error %q, want %q", err, test.want)
				}
				if _, err := runfolder.Reopen(c.Out); err == nil {
					t.Error("there is a run folder")
				}
			})
		}
	}
}
