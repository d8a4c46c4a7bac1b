package runfolder

import (
	"context"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/internal/safetensors"
	"github.com/w2vcl/w2vcl/train/trainer"
)

// A stateTrainer is nothing but its state.
type stateTrainer struct {
	units int
	state []trainer.Tensor
}

func (s *stateTrainer) Units() int { return s.units }
func (s *stateTrainer) Advance(context.Context, int, float64) (trainer.Report, error) {
	return trainer.Report{}, nil
}
func (s *stateTrainer) Tables() (words, contexts []float32) {
	return s.state[0].Data, s.state[1].Data
}
func (s *stateTrainer) State() []trainer.Tensor { return s.state }
func (s *stateTrainer) Reset()                  {}
func (s *stateTrainer) Close() error            { return nil }

// stateOf returns a trainer with tables of 8 words.
func stateOf(units int) *stateTrainer {
	return &stateTrainer{units, []trainer.Tensor{{Name: "words", Data: make([]float32, 16)}, {Name: "contexts", Data: make([]float32, 16)}}}
}

// example is a checkpoint in the middle of a run.
func example() Checkpoint {
	return Checkpoint{
		Units: 1000, Corpus: corpus.Hex(7), Vocabulary: corpus.Hex(8), MetricsSum: corpus.Hex(9), Settings: map[string]string{"mode": "cl", "dim": "2", "lr": "0.05"},
		Position: Position{
			Units: 500, Seconds: 12.5, Pairs: 9000, Words: 800, Last: Metric{Unit: 495, Seconds: 12, Loss: 0.5, LR: 0.03, WordsPerSecond: 70, PairsPerSecond: 720},
			Line: Tally{Units: 5, Start: 12, Loss: 40, Pairs: 90, Words: 8},
		},
		Metrics: 12345,
	}
}

// loadedState is all that a run takes from a checkpoint.
type loadedState struct {
	Checkpoint Checkpoint
	State      [][]float32
}

// loadCheckpoint reads a checkpoint as resume does, and as readers of a run in
// progress do.
func loadCheckpoint(ctx context.Context, path string, units int) (l loadedState, err error) {
	saved, err := OpenCheckpoint(path)
	if err != nil {
		return l, err
	}
	l.Checkpoint = saved.Checkpoint
	t := stateOf(units)
	if err := saved.Load(t); err != nil {
		return l, err
	}
	l.State = [][]float32{t.state[0].Data, t.state[1].Data}
	if saved, err = OpenCheckpoint(path); err != nil {
		return l, err
	}
	defer saved.Close()
	tables, err := saved.Tensors(ctx, "words", "contexts")
	if err == nil && !reflect.DeepEqual(tables, l.State) {
		panic("the two ways of reading differ")
	}
	return l, err
}

// written returns the bytes of an example.
func written(t testing.TB) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "state.safetensors")
	s := stateOf(1000)
	for i := range s.state[0].Data {
		s.state[0].Data[i], s.state[1].Data[i] = float32(i), -1/float32(i+1)
	}
	if err := example().Write(path, s.State()); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// writeHostile writes a checkpoint file with right checksums and any content.
func writeHostile(t testing.TB, path, metadata string, values []float32) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tensors := []safetensors.Tensor{{Name: "words", Type: safetensors.Float32, Shape: []int64{16}, Size: 64}, {Name: "contexts", Type: safetensors.Float32, Shape: []int64{16}, Size: 64}}
	err = safetensors.WriteSealed(f, map[string]string{checkpointKey: metadata}, tensors, func(w io.Writer) error {
		if err := safetensors.WriteFloats(w, values); err != nil {
			return err
		}
		return safetensors.WriteFloats(w, values)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestCheckpointRefuses: right checksums do not make impossible values possible.
func TestCheckpointRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.safetensors")
	good := example()
	good.Version = checkpointVersion
	encode := func(c Checkpoint) string {
		text, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	values := make([]float32, 16)
	writeHostile(t, path, encode(good), values)
	if _, err := loadCheckpoint(t.Context(), path, 1000); err != nil {
		t.Fatalf("what is changed below is refused as it is: %v", err)
	}
	for name, c := range map[string]struct {
		change func(c *Checkpoint)
		want   string
	}{
		"version":            {func(c *Checkpoint) { c.Version = 9 }, "version 9 is not read"},
		"units":              {func(c *Checkpoint) { c.Units = 0 }, "a run of 0 units"},
		"tokens of a unit":   {func(c *Checkpoint) { c.UnitTokens = -1 }, "units of -1 tokens"},
		"corpus":             {func(c *Checkpoint) { c.Corpus = "7" }, "no hash"},
		"vocabulary":         {func(c *Checkpoint) { c.Vocabulary = strings.Repeat("x", 16) }, "no hash"},
		"settings":           {func(c *Checkpoint) { c.Settings["dime"] = "2" }, "no such setting"},
		"value of a setting": {func(c *Checkpoint) { c.Settings["dim"] = "two" }, "not a whole number"},
		"metrics":            {func(c *Checkpoint) { c.Metrics = -1 }, "-1 bytes of metrics"},
		"negative units":     {func(c *Checkpoint) { c.Position.Units = -1 }, "after -1 of 1000 units"},
		"more units":         {func(c *Checkpoint) { c.Position.Units = 1001 }, "after 1001 of 1000 units"},
		"seconds":            {func(c *Checkpoint) { c.Position.Seconds = -1 }, "-1 seconds"},
		"pairs":              {func(c *Checkpoint) { c.Position.Pairs = -1 }, "-1 pairs"},
		"words":              {func(c *Checkpoint) { c.Position.Words = -1 }, "-1 words"},
		"last unit":          {func(c *Checkpoint) { c.Position.Last.Unit = 501 }, "last metrics are of unit 501"},
		"last seconds":       {func(c *Checkpoint) { c.Position.Last.Seconds = 13 }, "after 13 seconds"},
		"line units":         {func(c *Checkpoint) { c.Position.Line.Units = -2 }, "next metrics are of -2 units"},
		"line start":         {func(c *Checkpoint) { c.Position.Line.Start = 12.6 }, "since second 12.6"},
		"line pairs":         {func(c *Checkpoint) { c.Position.Line.Pairs = 9001 }, "9001 pairs"},
		"line words":         {func(c *Checkpoint) { c.Position.Line.Words = -1 }, "-1 words"},
	} {
		changed := example()
		changed.Version = checkpointVersion
		c.change(&changed)
		writeHostile(t, path, encode(changed), values)
		if _, err := loadCheckpoint(t.Context(), path, 1000); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	writeHostile(t, path, encode(good), slices.Repeat([]float32{float32(math.NaN())}, 16))
	if _, err := loadCheckpoint(t.Context(), path, 1000); err == nil || !strings.Contains(err.Error(), ErrNotFinite.Error()) {
		t.Errorf("NaN: %v", err)
	}
	writeHostile(t, path, strings.Replace(encode(good), "12.5", "1e999", 1), values)
	if _, err := loadCheckpoint(t.Context(), path, 1000); err == nil || !strings.Contains(err.Error(), "metadata w2vcl") {
		t.Errorf("infinite seconds: %v", err)
	}
	writeHostile(t, path, "{", values)
	if _, err := loadCheckpoint(t.Context(), path, 1000); err == nil || !strings.Contains(err.Error(), "metadata w2vcl") {
		t.Errorf("no JSON: %v", err)
	}
}
