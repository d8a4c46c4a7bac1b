//go:build gpu

package train

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/sequential"
	"github.com/w2vcl/w2vcl/train/device"
	"github.com/w2vcl/w2vcl/train/progress"
	"github.com/w2vcl/w2vcl/train/runfolder"
	"github.com/w2vcl/w2vcl/train/settings"
	"github.com/w2vcl/w2vcl/train/trainer"
)

// The tests of this file need a GPU and are skipped without one. They are those
// of whole runs; kernels/cuda tests what is beneath.

// topics is a text of sentences that each have words of one topic, and a few that
// all have.
func topics(seed uint64, words int) string {
	const count, size = 40, 15
	r := rand.New(rand.NewPCG(seed, 1))
	var b strings.Builder
	for range words / 12 {
		topic := r.IntN(count)
		for range 10 {
			fmt.Fprintf(&b, "t%dw%d ", topic, int(math.Pow(size, r.Float64())))
		}
		fmt.Fprintf(&b, "the%d the%d\n", r.IntN(5), r.IntN(5))
	}
	return b.String()
}

// gpuConfig is a run on a GPU, or the test is skipped.
func gpuConfig(t *testing.T, flags map[string]string) settings.Config {
	t.Helper()
	if _, _, err := device.List(); errors.Is(err, device.ErrNone) {
		t.Skip(err)
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	all := map[string]string{
		"corpus": writeFile(t, "text", topics(seed, 200_000)), "out": filepath.Join(t.TempDir(), "run"),
		"device": "cuda", "dim": "50", "seed": fmt.Sprint(seed % 1000),
	}
	for name, value := range flags {
		all[name] = value
	}
	c, err := settings.Resolve("", all)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func trained(t *testing.T, c settings.Config) runfolder.Summary {
	t.Helper()
	summary, err := Run(t.Context(), c, Options{}, progress.New(testWriter{t}))
	if err != nil {
		t.Fatal(err)
	}
	return summary
}

type testWriter struct{ *testing.T }

func (w testWriter) Write(p []byte) (int, error) {
	w.Log(strings.TrimSpace(string(p)))
	return len(p), nil
}

func load(t *testing.T, c settings.Config, name string) *embedding.Table {
	t.Helper()
	table, err := embedding.Load(t.Context(), filepath.Join(c.Out, name))
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// TestGPUResume: cl that is interrupted and resumed on the GPU ends in the same
// bits; resumed on the CPU it ends near them, and the other way round.
func TestGPUResume(t *testing.T) {
	for _, encoder := range []string{settings.SubwordNone, settings.SubwordCNN, settings.SubwordNGram} {
		t.Run(encoder, func(t *testing.T) { testGPUResume(t, encoder, nil) })
	}
	equal := map[string]string{"tempering": "0", "positives": "1", "shared-negatives": "0"}
	for _, encoder := range []string{settings.SubwordCNN, settings.SubwordNGram} {
		t.Run(encoder+" of equal samples", func(t *testing.T) { testGPUResume(t, encoder, equal) })
	}
}

func testGPUResume(t *testing.T, encoder string, flags map[string]string) {
	tolerance := 5e-3
	switch { // rounding errors grow under Adam; a CNN's maxima change places, and its products have factors of 16 bits on the GPU
	case encoder != settings.SubwordNone && flags == nil:
		tolerance = 2e-1 // the rates of so short a run are high, and there are 16 bits in places
	case encoder == settings.SubwordNGram:
		tolerance = 5e-2
	case encoder == settings.SubwordCNN:
		tolerance = 1e-1
	}
	all := map[string]string{"model": "sg", "iterations": "300", "contexts": "120", "subword": encoder}
	maps.Copy(all, flags)
	c := gpuConfig(t, all)
	trained(t, c)
	resumeElsewhere(t, c, tolerance, true)
}

// resumeElsewhere interrupts a run on one device and resumes it on either. Its vectors are near those of
// c, which was trained without a stop; on the same device they have its bits, if they shall.
func resumeElsewhere(t *testing.T, c settings.Config, tolerance float64, bits bool) {
	t.Helper()
	for _, devices := range [][2]string{{"cuda", "cuda:0"}, {"cuda", "cpu"}, {"cpu", "cuda"}} {
		again := c
		again.Device, again.Out = devices[0], filepath.Join(t.TempDir(), "run")
		interruptRun(t, again)
		if _, err := Resume(t.Context(), nil, again.Out, map[string]string{"device": devices[1]}, nil, nil); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{runfolder.VectorsFile, runfolder.ContextFile} {
			got, want := load(t, again, name), load(t, c, name)
			if bits && devices == [2]string{"cuda", "cuda:0"} && !slices.Equal(got.Vectors, want.Vectors) {
				t.Errorf("%v: %s is not the same to the bit", devices, name)
			}
			if relative := difference(got, want); !(relative <= tolerance) {
				t.Errorf("%v: %s: relative difference %v", devices, name, relative)
			}
		}
	}
}

// difference is the norm of the difference of two tables, relative to the norm of want.
func difference(got, want *embedding.Table) float64 {
	var difference, norm float64
	for i, x := range want.Vectors {
		difference += math.Pow(float64(got.Vectors[i]-x), 2)
		norm += float64(x) * float64(x)
	}
	return math.Sqrt(difference / norm)
}

// TestGPUResumeSentences: a sentence-ordered run that is interrupted on one device and resumed on
// either ends in the vectors of one that was never stopped. The text is so short that the GPU
// trains one sentence at a time.
func TestGPUResumeSentences(t *testing.T) {
	for _, flags := range []map[string]string{
		{"mode": string(sequential.Word2Vec)}, {"mode": string(sequential.Word2Vec), "model": string(sequential.CBOW)}, {"mode": string(sequential.PWord2Vec)},
		{"mode": string(sequential.FullW2V)}, {"mode": string(sequential.FullRegister)}, {"mode": string(sequential.PARW2V)},
	} {
		t.Run(flags["mode"]+flags["model"], func(t *testing.T) {
			flags["corpus"], flags["threads"], flags["epochs"], flags["min-count"], flags["sample"] = writeFile(t, "text", topics(1, 2000)), "1", "3", "1", "0"
			c := gpuConfig(t, flags)
			c.Device = settings.DeviceCPU
			trained(t, c)
			resumeElsewhere(t, c, 1e-5, false)
		})
	}
}

// TestGPUQuality: all modes find the topics, the sentence-ordered ones as well as the CPU does.
func TestGPUQuality(t *testing.T) {
	for _, flags := range []map[string]string{
		{"mode": string(sequential.FullW2V), "epochs": "5", "window": "5"},
		{"mode": string(sequential.FullW2V), "epochs": "5", "window": "9", "negative": "15", "dim": "300"},
		{"mode": string(sequential.FullW2V), "epochs": "5", "window": "5", "precision": settings.PrecisionHalf},
		{"mode": settings.ModeVanilla, "epochs": "5"},
		{"mode": settings.ModeVanilla, "epochs": "5", "preset": "paper"},
		{"mode": string(sequential.Word2Vec), "epochs": "5"},
		{"mode": string(sequential.Word2Vec), "epochs": "5", "window": "10", "negative": "15", "dim": "300"},
		{"mode": string(sequential.Word2Vec), "epochs": "5", "precision": settings.PrecisionHalf},
		{"mode": string(sequential.Word2Vec), "model": string(sequential.CBOW), "epochs": "5"},
		{"mode": string(sequential.PWord2Vec), "epochs": "5"},
		{"mode": string(sequential.FullRegister), "epochs": "5"},
		{"mode": string(sequential.PARW2V), "epochs": "5"},
		{"model": settings.ModelPositional, "iterations": "500", "batch": "500"},
		{"model": "sg", "iterations": "2000", "contexts": "500"},
		{"model": "sg", "iterations": "2000", "contexts": "500", "subword": settings.SubwordCNN},
		{"model": "sg", "iterations": "2000", "contexts": "500", "subword": settings.SubwordNGram},
	} {
		t.Run(flags["mode"]+"/"+flags["model"]+flags["dim"]+flags["precision"]+flags["subword"], func(t *testing.T) {
			c := gpuConfig(t, flags)
			gpu := trained(t, c)
			onCPU := c
			onCPU.Device, onCPU.Out = settings.DeviceCPU, c.Out+"-cpu"
			onCPU.Precision = settings.Defaults(c.Mode, "", "", "").Precision
			cpu := trained(t, onCPU)
			got, want := purity(load(t, c, runfolder.VectorsFile)), purity(load(t, onCPU, runfolder.VectorsFile))
			t.Logf("nearest words of the same topic: %.3f on the GPU, %.3f on the CPU; loss %.4f and %.4f", got, want, gpu.Loss, cpu.Loss)
			if !(got > 0.9*want && want > 0.5) {
				t.Errorf("%v of the nearest words are of the same topic, on the CPU %v", got, want)
			}
			most := 0.1
			if c.Mode != settings.ModeCL {
				most = 0.5 // the text is short for twenty sentences at a time
			}
			if math.Abs(gpu.Loss-cpu.Loss) > most*cpu.Loss {
				t.Errorf("loss %v, on the CPU %v", gpu.Loss, cpu.Loss)
			}
		})
	}
}

// purity is the share of words whose nearest word is of the same topic.
func purity(table *embedding.Table) float64 {
	topic := func(word string) string { before, _, _ := strings.Cut(word, "w"); return before }
	unit := table.Normalized()
	same, all := 0, 0
	for i, word := range table.Words {
		if strings.HasPrefix(word, "the") {
			continue
		}
		nearest, best := -1, math.Inf(-1)
		for j := range table.Words {
			sum := 0.0
			for k := range table.Dim {
				sum += float64(unit[i*table.Dim+k]) * float64(unit[j*table.Dim+k])
			}
			if j != i && sum > best {
				nearest, best = j, sum
			}
		}
		all++
		if topic(table.Words[nearest]) == topic(word) {
			same++
		}
	}
	return float64(same) / float64(all)
}

// TestGPUMemory: training takes no more than was planned.
func TestGPUMemory(t *testing.T) {
	for _, flags := range []map[string]string{
		{"model": "sg"}, {"mode": string(sequential.FullW2V)}, {"mode": string(sequential.PARW2V)}, {"model": "sg", "subword": settings.SubwordCNN}, {"model": "sg", "subword": settings.SubwordCNN, "compose": "spelling"},
		{"model": "sg", "subword": settings.SubwordNGram}, {"model": "sg", "subword": settings.SubwordCNN, "gram": "1-3"},
	} {
		flags["epochs"] = "1"
		c := gpuConfig(t, flags)
		j := &job{config: c, dry: true}
		defer j.close()
		if err := j.prepare(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		_, peak := trainer.Device(j.trainer)
		if d := j.executor.(*gpu).bytes; peak > d {
			t.Errorf("%v takes %d bytes, estimated were %d", flags, peak, d)
		}
	}
}
