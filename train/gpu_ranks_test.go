package train

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/w2vcl/w2vcl/train/cluster"
	"github.com/w2vcl/w2vcl/train/device"
	"github.com/w2vcl/w2vcl/train/device/devicetest"
	"github.com/w2vcl/w2vcl/train/settings"
)

// devicesOfRanks gives each rank a device of its own.
func devicesOfRanks(t *testing.T) {
	t.Helper()
	fakeDevice(t)
	device.Open = func(name string) (device.Device, error) {
		ordinals, err := device.Ordinals(name)
		d := devicetest.New()
		d.Parts = len(ordinals)
		return d, err
	}
}

// TestGPURanks: ranks with a GPU each leave the vectors of one process with as many GPUs; a signal to any rank stops them, and
// the run goes on on other numbers of ranks and GPUs.
func TestGPURanks(t *testing.T) {
	devicesOfRanks(t)
	c := smallConfig(t, "fullw2v")
	c.Epochs *= 6
	c.Sync = 90
	for _, n := range []int{2, 4} {
		c.Out = filepath.Join(t.TempDir(), "process")
		c.Device = []string{2: "cuda:0,1", 4: "cuda:0,1,2,3"}[n]
		want := vectorsOf(t, c)
		c.Device, c.Out = "cuda", filepath.Join(t.TempDir(), "run")
		err := onRanks(t, n, c, func(g *cluster.Group) error {
			_, err := Run(t.Context(), c, Options{NoPlan: true, Ranks: g}, nil)
			if !g.Ended {
				t.Error("the others wait")
			}
			return err
		}, same, t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(vectorsIn(t, c.Out), want) {
			t.Errorf("%d ranks: other vectors than those of a process with %d GPUs", n, n)
		}
		c.Out = filepath.Join(t.TempDir(), "stopped")
		interruptOn(t, n, c)
		resumeOn(t, 6-n, c)
	}
}

// TestGPURanksErrors: an error names the rank and what to do, and no rank waits for another.
func TestGPURanksErrors(t *testing.T) {
	other := writeFile(t, "text", smallText()+"one more line\n")
	for name, test := range map[string]struct {
		ranks  int
		want   string
		change func(c *settings.Config)
		broken bool // the devices are
	}{
		"shared": {2, "--shared-negatives 64 on GPUs", func(c *settings.Config) { c.Mode, c.SharedNegatives = settings.ModeCL, 64 }, false},
		"tempering": {2, "--tempering 1 and --positives 2 on GPUs", func(c *settings.Config) {
			c.Mode, c.SharedNegatives, c.Tempering, c.Positives = settings.ModeCL, 0, 1, 2
		}, false},
		"cbow": {2, "--model cbow on GPUs: take --model sg", func(c *settings.Config) {
			c.Mode, c.Model = settings.ModeCL, settings.ModelCBOW
		}, false},
		"vanilla": {2, "--mode vanilla on GPUs", func(c *settings.Config) { c.Mode = "vanilla" }, false},
		"several": {2, "--device cuda:0,1: take --device cuda", func(c *settings.Config) { c.Device = "cuda:0,1" }, false},
		"three":   {3, "there are 3 ranks; on GPUs 2, 4 or 8", func(*settings.Config) {}, false},
		"subword": {2, "--subword ngram on GPUs", func(c *settings.Config) { c.Subword = "ngram" }, false},
		"shares":  {2, "each reads the whole text", func(c *settings.Config) { c.Corpus = "part-{rank}" }, false},
		"cache":   {2, "--cache", func(c *settings.Config) { c.Cache = "c" }, false},
		"vocab":   {2, "--vocab", func(c *settings.Config) { c.Vocabulary = "v" }, false},
		"missing": {2, "there is no such file", func(c *settings.Config) { c.Corpus = other + "x" }, false},
		"broken":  {2, "--device cuda: it is broken", func(*settings.Config) {}, true},
	} {
		t.Run(name, func(t *testing.T) {
			devicesOfRanks(t)
			c := smallConfig(t, "fullw2v")
			c.Device = "cuda"
			test.change(&c)
			if test.broken {
				device.Open = func(string) (device.Device, error) { return nil, errors.New("it is broken") }
			}
			refusedOnRanks(t, test.ranks, c, same, test.want)
			if exists(c.Out + ".partial") {
				t.Error("a folder is left")
			}
		})
	}
}

// TestGPURanksCL: ranks with a GPU each leave the vectors that one GPU leaves, and go on with the run of any number of GPUs. Of a text
// longer than what M is measured with, each makes the whole M.
func TestGPURanksCL(t *testing.T) {
	devicesOfRanks(t)
	defer func(tokens int) { measuredTokens = tokens }(measuredTokens)
	measuredTokens = 100
	c := smallConfig(t, settings.ModeCL)
	c.Tempering, c.Positives, c.SharedNegatives, c.Dim, c.Epochs = 0, 1, 0, 40, 6
	c.Device = "cuda"
	want := vectorsOf(t, c)
	for _, n := range [][2]int{{2, 4}, {8, 2}, {2, 0}} { // 0: a single process
		c.Out = filepath.Join(t.TempDir(), "run")
		interruptOn(t, n[0], c)
		resumeOn(t, n[1], c)
		if !slices.Equal(vectorsIn(t, c.Out), want) {
			t.Errorf("%d ranks, then %d: other vectors than those of one GPU", n[0], n[1])
		}
	}
}
