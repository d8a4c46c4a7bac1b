package device_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/graph"
	"github.com/w2vcl/w2vcl/kernels/cuda"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/sequential"
	"github.com/w2vcl/w2vcl/subword"
	"github.com/w2vcl/w2vcl/train/device"
	"github.com/w2vcl/w2vcl/train/device/devicetest"
)

// refused fails unless err says that the setting is not supported; "" stands for
// no error.
func refused(t *testing.T, what string, err error, setting string) {
	t.Helper()
	var r *device.UnsupportedError
	switch {
	case setting == "" && err != nil:
		t.Errorf("%s: error %v", what, err)
	case setting != "" && (!errors.As(err, &r) || r.Setting != setting || r.Reason == ""):
		t.Errorf("%s: error %v, want an UnsupportedError of %s", what, err, setting)
	}
}

func TestCheckCL(t *testing.T) {
	encoder, err := subword.NewNetwork("cnn", []string{"a", "bc"}, subword.NetworkOptions{Dim: 7})
	if err != nil {
		t.Fatal(err)
	}
	many, err := subword.NewNetwork("cnn", []string{"a", "bc"}, subword.NetworkOptions{Dim: 7, Widths: make17(2)})
	if err != nil {
		t.Fatal(err)
	}
	shaped := func(o subword.NetworkOptions) func(c *graph.Options) {
		o.Dim = 7
		e, err := subword.NewNetwork("cnn", []string{"a", "bc"}, o)
		if err != nil {
			t.Fatal(err)
		}
		return func(c *graph.Options) { c.Encoder = subword.WithWords(e) }
	}
	for name, x := range map[string]struct {
		change  func(c *graph.Options)
		p       device.Precision
		setting string
	}{
		"all right":       {func(*graph.Options) {}, device.Half, ""},
		"zero precision":  {func(*graph.Options) {}, "", ""},
		"dim":             {func(c *graph.Options) { c.Dim = device.MaxDim + 1 }, "", "dim"},
		"precision":       {func(*graph.Options) {}, "double", "precision"},
		"encoder":         {func(c *graph.Options) { c.Encoder = encoder }, device.Float32, ""},
		"half tables":     {func(*graph.Options) {}, device.HalfTables, "precision"},
		"half encoder":    {func(c *graph.Options) { c.Encoder = encoder }, device.Half, "precision"},
		"widths":          {func(c *graph.Options) { c.Encoder = many }, "", "widths"},
		"paper's":         {shaped(subword.NetworkOptions{Filters: []int{3, 3, 4}, Activation: subword.Tanh, Raw: true}), "", ""},
		"shared":          {func(c *graph.Options) { c.SharedNegatives = 3 }, device.Half, ""},
		"encoder, shared": {func(c *graph.Options) { c.Encoder, c.SharedNegatives = encoder, 3 }, "", ""},
		"encoder, sgd":    {func(c *graph.Options) { c.Encoder, c.Optimizer.Method = encoder, optim.SGD }, "", "optimizer"},
	} {
		c := graph.Options{Dim: 7, Negatives: 3, Optimizer: optim.Options{Method: optim.Adam}}
		x.change(&c)
		refused(t, name, device.CheckCL(c, x.p), x.setting)
		if x.setting != "" {
			_, err := device.NewCL(devicetest.New(), nil, nil, 1, c, x.p)
			refused(t, "NewCL: "+name, err, x.setting)
		}
	}
	// Every optimizer either has kernels or is refused.
	for _, d := range optim.Methods() {
		setting := "optimizer"
		if d.Kernels {
			setting = ""
		}
		refused(t, string(d.Name), device.CheckCL(graph.Options{Dim: 7, Optimizer: optim.Options{Method: d.Name}}, ""), setting)
	}
	if err := device.CheckCL(graph.Options{Dim: 7}, ""); err == nil || !strings.Contains(err.Error(), "optimizer") {
		t.Errorf("no optimizer: error %v", err)
	}
}

// The CUDA kernels have the methods that optim says they have, with the same state.
func TestMethodsOfKernels(t *testing.T) {
	count := 0
	for _, d := range optim.Methods() {
		m, err := cuda.FindMethod(string(d.Name))
		if d.Kernels != (err == nil) {
			t.Errorf("%s: optim says kernels %v; %v", d.Name, d.Kernels, err)
		}
		if err != nil {
			continue
		}
		count++
		const rows, columns = 7, 5
		var bytes int64
		for _, x := range []struct {
			has    bool
			values int64
		}{{m.First, rows * columns}, {m.Second, rows * columns}, {m.SecondOfRow, rows}} {
			if x.has {
				bytes += 4 * x.values
			}
		}
		if want := (optim.Options{Method: d.Name}).Bytes(rows, columns); bytes != want || m.Adaptive != d.Shared {
			t.Errorf("%s: the kernels have %d bytes of state, adaptive %v; optim %d, %v", d.Name, bytes, m.Adaptive, want, d.Shared)
		}
	}
	if all := len(cuda.Methods()); all != count {
		t.Errorf("the kernels have %d methods, of which optim has %d", all, count)
	}
}

func make17(width int) (widths []int) {
	for range 17 {
		widths = append(widths, width)
	}
	return widths
}

func TestCheckEncoder(t *testing.T) {
	refused(t, "n-grams", device.CheckEncoder(nil, device.Float32), "")
	refused(t, "n-grams", device.CheckEncoder(nil, device.Half), "precision")
	cnn := subword.NetworkOptions{Widths: []int{2}, Spelling: subword.SpellingOptions{Limit: device.MaxCNNSymbols}}
	refused(t, "cnn", device.CheckEncoder(&cnn, device.Float32), "")
	cnn.Spelling.Limit++
	refused(t, "long words", device.CheckEncoder(&cnn, device.Float32), "max-chars")
	cnn = subword.NetworkOptions{Widths: make17(1)}
	refused(t, "many widths", device.CheckEncoder(&cnn, device.Float32), "widths")
	cnn = subword.NetworkOptions{Widths: []int{2}, LayerRates: true, Spelling: subword.SpellingOptions{Gram: []int{1, 2}}}
	refused(t, "lengths", device.CheckEncoder(&cnn, device.Float32), "")
}

// Every sentence-ordered algorithm either has kernels or is refused.
func TestCheckSequential(t *testing.T) {
	c, noise := text(t, 1, 500)
	for _, d := range sequential.Algorithms() {
		options := sequential.Options{Algorithm: d.Name, Dim: 7, Window: 5, Negatives: 3, Epochs: 1, Seed: 1, Threads: 1}
		fake := devicetest.New()
		trainer, err := device.NewSequential(fake, c, noise, options, device.Float32)
		_, memoryErr := device.MemorySequential(c, options, device.Float32, plenty, 1)
		if !device.HasKernels(d.Name) {
			refused(t, string(d.Name), err, "mode")
			refused(t, string(d.Name), device.CheckSequential(options, ""), "mode")
			if memoryErr == nil {
				t.Errorf("%s has no kernels, but memory for them", d.Name)
			}
			continue
		}
		if err := errors.Join(err, memoryErr); err != nil {
			t.Fatal(err)
		}
		if report, err := trainer.Advance(t.Context(), 0, .1); err != nil || report.Pairs == 0 {
			t.Errorf("%s: %+v, %v", d.Name, report, err)
		}
		if err := errors.Join(trainer.Close(), fake.Close()); err != nil {
			t.Error(err)
		}
	}
}

func TestCheckFullW2V(t *testing.T) {
	for name, x := range map[string]struct {
		change  func(c *sequential.Options)
		p       device.Precision
		setting string
	}{
		"all right":             {func(c *sequential.Options) { c.Negatives, c.Window = 15, 30 }, device.Float32, ""},
		"half":                  {func(c *sequential.Options) { c.Negatives, c.Window = 7, 14 }, device.Half, ""},
		"dim":                   {func(c *sequential.Options) { c.Dim = 1025 }, "", "dim"},
		"negatives":             {func(c *sequential.Options) { c.Negatives = 16 }, "", "negative"},
		"window":                {func(c *sequential.Options) { c.Window = 31 }, "", "window"},
		"half tables":           {func(c *sequential.Options) { c.Negatives, c.Window = 7, 14 }, device.HalfTables, ""},
		"half tables of others": {func(c *sequential.Options) { c.Algorithm = sequential.Word2Vec }, device.HalfTables, "precision"},
		"half tables, window":   {func(c *sequential.Options) { c.Window = 15 }, device.HalfTables, "precision"},
		"half negatives":        {func(c *sequential.Options) { c.Negatives = 8 }, device.Half, "precision"},
		"half window":           {func(c *sequential.Options) { c.Window = 15 }, device.Half, "precision"},
		"tree":                  {func(c *sequential.Options) { c.HierarchicalSoftmax = true }, "", "hierarchical-softmax"},
	} {
		c := sequential.Options{Algorithm: sequential.FullW2V, Dim: 7, Window: 5, Negatives: 3}
		x.change(&c)
		refused(t, name, device.CheckSequential(c, x.p), x.setting)
	}
}

// A batch of PAR-Word2Vec and its changes fit into the shared memory of a thread block. The usual
// one does with vectors of any dimension.
func TestCheckBatch(t *testing.T) {
	for _, x := range []struct {
		dim, batch int
		setting    string
	}{
		{device.MaxDim, sequential.DefaultBatch, ""}, {device.MaxDim, 25, "batch"}, {128, 216, ""}, {100, 216, ""}, {128, 217, "batch"},
		{300, 72, ""}, {300, 73, "batch"},
	} {
		c := sequential.Options{Algorithm: sequential.PARW2V, Dim: x.dim, Window: 5, Negatives: 5, Batch: x.batch}
		refused(t, fmt.Sprintf("%+v", x), device.CheckSequential(c, ""), x.setting)
		c.Algorithm = sequential.PWord2Vec // has none
		refused(t, "pword2vec", device.CheckSequential(c, ""), "")
	}
}
