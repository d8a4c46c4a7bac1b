package ranks_test

import (
	"math"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/train/ranks"
	"github.com/w2vcl/w2vcl/train/settings"
)

func config(t *testing.T, flags map[string]string) *settings.Config {
	t.Helper()
	flags["corpus"], flags["out"], flags["threads"] = "text", "run", "16"
	c, err := settings.Resolve("", flags)
	if err != nil {
		t.Fatal(err)
	}
	return &c
}

// TestPredict: the model says what was found when it was written: processors gain on 100 Gbit/s, GPUs lose at usual sizes.
func TestPredict(t *testing.T) {
	paper := func(device, dim string) *settings.Config {
		c := config(t, map[string]string{"mode": "cl", "preset": "paper", "negative": "5", "dim": dim})
		c.Device = device // which this program may lack
		return c
	}
	usual := config(t, map[string]string{"mode": "cl", "model": "sg", "dim": "500"})
	ordered := config(t, map[string]string{"mode": "fullw2v", "dim": "128"})
	ngrams, words := config(t, map[string]string{"mode": "cl"}), config(t, map[string]string{"mode": "cl", "subword": "none"})
	for name, test := range map[string]struct {
		c           *settings.Config
		hosts       int
		gigabits    float64
		m           ranks.Measured
		least, most float64 // times one host
	}{
		"processors":           {paper("cpu", "500"), 4, 100, ranks.Measured{Words: 18498, Units: 1, Seconds: 5.3e-3}, 1.8, 4},
		"processors, slow":     {paper("cpu", "500"), 4, 1, ranks.Measured{Words: 18498, Units: 1, Seconds: 5.3e-3}, 0.3, 0.7},
		"GPUs":                 {paper("cuda", "500"), 4, 100, ranks.Measured{Words: 18116, Units: 1, Seconds: 2 * 55e-6}, 0.2, 0.8},
		"GPUs, a million rows": {paper("cuda", "1000"), 4, 100, ranks.Measured{Words: 1e6, Units: 1, Seconds: 2 * 5.5e-3}, 1, 1.6},
		"shared negatives":     {usual, 4, 100, ranks.Measured{Words: 18498, Units: 1, Seconds: 16e-3, Samples: 6}, 1.2, 2.5},
		"CBOW":                 {words, 4, 100, ranks.Measured{Words: 18498, Units: 1, Seconds: 5e-3, Places: 45000, Training: 1e9, Moments: 4e8}, 1.2, 2.5},
		"CBOW, slow":           {ngrams, 4, 1, ranks.Measured{Words: 18498, Units: 1, Seconds: 5e-3, Places: 45000, Training: 1e9, Moments: 4e8}, 0.02, 0.3},
		"order of the text":    {ordered, 4, 100, ranks.Measured{Words: 67869, Tokens: 16.7e6, Units: 256, Seconds: 83.5e6 / 256 / 20e6}, 2.5, 4},
		"order, slow":          {ordered, 4, 1, ranks.Measured{Words: 67869, Tokens: 16.7e6, Units: 256, Seconds: 83.5e6 / 256 / 20e6}, 0.1, 0.9},
	} {
		f, err := ranks.Predict(test.c, ranks.Network{Hosts: test.hosts, Gigabits: test.gigabits}, test.m)
		if err != nil {
			t.Fatal(err)
		}
		if !(f.Speedup >= test.least && f.Speedup <= test.most) {
			t.Errorf("%s: %v times one host, want %v to %v", name, f.Speedup, test.least, test.most)
		}
		if f.Slower() != (f.Speedup < 1) || f.Memory <= 0 || math.Abs(f.SecondsTrain-f.SecondsPerUnit*float64(test.m.Units)) > 1e-9 {
			t.Errorf("%s: %+v", name, f)
		}
		var text strings.Builder
		if err := f.Print(&text); err != nil || strings.Contains(text.String(), "slower than one") != f.Slower() {
			t.Errorf("%v: %s", err, text.String())
		}
	}
}

// TestMemory: hosts that split a model need less each, and more hosts still less.
func TestMemory(t *testing.T) {
	c := config(t, map[string]string{"mode": "cl", "preset": "paper"})
	m := ranks.Measured{Words: 1 << 20, Units: 1, Seconds: 1, Matrix: 8 << 30}
	last := math.Inf(1)
	for _, n := range []int{2, 4, 8} {
		f, err := ranks.Predict(c, ranks.Network{Hosts: n, Gigabits: 10}, m)
		if err != nil || float64(f.Memory) > 0.6*last {
			t.Errorf("%d hosts: %d bytes, %v", n, f.Memory, err)
		}
		last = float64(f.Memory)
	}
}

func TestErrors(t *testing.T) {
	cl := config(t, map[string]string{"mode": "cl", "preset": "paper"})
	for want, test := range map[string]struct {
		c *settings.Config
		n ranks.Network
	}{
		"--hosts 1":           {cl, ranks.Network{Hosts: 1, Gigabits: 10}},
		"--network 0":         {cl, ranks.Network{Hosts: 2}},
		"not on 3":            {cl, ranks.Network{Hosts: 3, Gigabits: 10}},
		"--mode vanilla":      {config(t, map[string]string{"mode": "vanilla"}), ranks.Network{Hosts: 2, Gigabits: 10}},
		"--subword recurrent": {config(t, map[string]string{"mode": "cl", "subword": "recurrent"}), ranks.Network{Hosts: 2, Gigabits: 10}},
		"--subword cnn":       {config(t, map[string]string{"mode": "cl", "model": "sg", "subword": "cnn"}), ranks.Network{Hosts: 2, Gigabits: 10}},
	} {
		if _, err := ranks.Predict(test.c, test.n, ranks.Measured{Words: 1000, Tokens: 1000, Units: 1, Seconds: 1}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
