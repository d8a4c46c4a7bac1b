package subword

import (
	"math"
	"testing"

	"github.com/w2vcl/w2vcl/graph"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// nothing is an encoder to which spelling says nothing.
type nothing struct{ words, dim int }

func (e nothing) Words() int                       { return e.words }
func (e nothing) Dim() int                         { return e.dim }
func (e nothing) Parameters() []graph.Parameter    { return nil }
func (e nothing) Randomize(uint64)                 {}
func (e nothing) Bytes() (rows, gradient int64)    { return 0, 0 }
func (e nothing) Encode([]string, []float32) error { return nil }
func (e nothing) Parts(string) int                 { return 0 }
func (e nothing) Source() Source                   { return "" }
func (e nothing) Truncated() int                   { return 0 }
func (e nothing) FileBytes() int64                 { return 0 }
func (e nothing) ListBytes() int64                 { return 0 }
func (e nothing) Continue(Start) error             { return nil }
func (e nothing) save(*description, *fileWriter)   {}

// Rows are zeros. They need a graph, which an encoder has from its parameters;
// withNothing hands over that of the table.
func (e nothing) Rows(parameters gorgonia.Nodes, batch []uint32, _ int) (*gorgonia.Node, error) {
	rows := e.words
	if batch != nil {
		rows = len(batch)
	}
	zeros := newMatrix(rows, e.dim)
	return gorgonia.NewMatrix(parameters[0].Graph(), tensor.Float32, gorgonia.WithName("zeros"), gorgonia.WithShape(rows, e.dim), gorgonia.WithValue(zeros)), nil
}

// withNothing is WithWords of nothing.
type withNothing struct{ *withWords }

func (w withNothing) Rows(parameters gorgonia.Nodes, batch []uint32, threads int) (*gorgonia.Node, error) {
	rows, err := w.Encoder.Rows(parameters, batch, threads)
	if err != nil {
		return nil, err
	}
	return addRows(rows, parameters[0], batch, threads)
}

// An encoder that has nothing but a vector for every word trains as models
// without encoders do: the operations for encoders against their plain twins.
func TestWordsAlone(t *testing.T) {
	tr := newTrial(t)
	encoder := func() graph.Encoder {
		return withNothing{WithWords(nothing{len(tr.words), 20}).(*withWords)}
	}
	o := graph.VanillaOptions{Window: 2, Sample: 1e-4, Batch: 300, Epochs: 1}
	plainVanilla, err := graph.NewVanilla(tr.text, tr.noise, o, config(1))
	if err != nil {
		t.Fatal(err)
	}
	vanilla, err := graph.NewVanilla(tr.text, tr.noise, o, withEncoder(config(2), encoder()))
	if err != nil {
		t.Fatal(err)
	}
	plainSteps, err := graph.NewCL(tr.matrix, tr.noise, iterations, config(1))
	if err != nil {
		t.Fatal(err)
	}
	steps, err := graph.NewCL(tr.matrix, tr.noise, iterations, withEncoder(config(2), encoder()))
	if err != nil {
		t.Fatal(err)
	}
	several := config(1) // samples a row, of every row in every iteration
	several.SharedNegatives = 16
	plainTempered, err := graph.NewCL(tr.tempered, tr.noise, iterations, several)
	if err != nil {
		t.Fatal(err)
	}
	several.Threads = 2
	tempered, err := graph.NewCL(tr.tempered, tr.noise, iterations, withEncoder(several, encoder()))
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		plain, with model
		units       int
	}{
		"vanilla": {plainVanilla, vanilla, 2},
		// Contexts start as zeros, so words stay as they are in the first
		// iteration, and only in the second step 2 meets others than step 1.
		"cl":          {plainSteps, steps, 2},
		"tempered cl": {plainTempered, tempered, 2},
	} {
		want, got := advance(t, test.plain, 0, test.units), advance(t, test.with, 0, test.units)
		if err := test.with.Refresh(); err != nil {
			t.Fatal(err)
		}
		wantWords, wantContexts := test.plain.Tables()
		gotWords, gotContexts := test.with.Tables()
		check := func(what string, got, want []float32) {
			for i, x := range want {
				if math.Abs(float64(got[i]-x)) > 1e-5 {
					t.Fatalf("%s: %s value %d is %v, without an encoder %v", name, what, i, got[i], x)
				}
			}
		}
		check("words", gotWords, wantWords)
		if name == "vanilla" {
			check("contexts", gotContexts, wantContexts)
			if last := test.units - 1; math.Abs(got[last]-want[last]) > 1e-6 {
				t.Errorf("%s: loss %v, without an encoder %v", name, got[last], want[last])
			}
		}
		if err := test.plain.Close(); err != nil {
			t.Error(err)
		}
		if err := test.with.Close(); err != nil {
			t.Error(err)
		}
	}
}
