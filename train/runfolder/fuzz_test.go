package runfolder

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/w2vcl/w2vcl/internal/safetensors"
)

// FuzzCheckpoint reads checkpoints with right checksums and any description and
// values. What is read can be written, and is the same when it is read again.
func FuzzCheckpoint(f *testing.F) {
	c := example()
	c.Version = checkpointVersion
	text, err := json.Marshal(c)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text), []byte("12345678"))
	f.Add(`{"version":2,"units":1,"corpus":"0000000000000000","vocabulary":"0000000000000000","position":{"pairs":-0}}`, []byte{})
	f.Add(`{"version":2,"units":9223372036854775807,"settings":{"mode":"cl","dim":"-1"},"metrics_bytes":9223372036854775807}`, []byte{0, 0, 0xc0, 0x7f})
	path := filepath.Join(f.TempDir(), "state.safetensors")
	f.Fuzz(func(t *testing.T, metadata string, data []byte) {
		values := make([]float32, 16)
		for i, b := range data {
			values[i%16] = float32(b) * values[(i+1)%16] // infinity, too
		}
		writeHostile(t, path, metadata, values)
		saved, err := OpenCheckpoint(path)
		if err != nil {
			return
		}
		saved.Close()
		read, err := loadCheckpoint(t.Context(), path, saved.Units)
		if err != nil {
			return
		}
		s := stateOf(saved.Units)
		copy(s.state[0].Data, read.State[0])
		copy(s.state[1].Data, read.State[1])
		if err := read.Checkpoint.Write(path, s.State()); err != nil {
			t.Fatal(err)
		}
		again, err := loadCheckpoint(t.Context(), path, saved.Units)
		if err != nil || !reflect.DeepEqual(again, read) {
			t.Errorf("read %+v, then %+v, %v", read, again, err)
		}
	})
}

// FuzzCheckpointFile reads any bytes.
func FuzzCheckpointFile(f *testing.F) {
	f.Add(written(f))
	path := filepath.Join(f.TempDir(), "state.safetensors")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		saved, err := OpenCheckpoint(path)
		if err != nil {
			return
		}
		defer saved.Close()
		var size int64
		for _, tensor := range saved.content.Tensors {
			if tensor.Type == safetensors.Float32 {
				size += tensor.Size
			}
		}
		if size > int64(len(data)) {
			t.Errorf("tensors of %d bytes in a file of %d", size, len(data))
		}
		if tables, err := saved.Tensors(t.Context(), "words", "contexts"); err == nil && len(tables) != 2 {
			t.Errorf("%d tables", len(tables))
		}
	})
}

// FuzzMetrics reads any lines. Lines that are accepted are in order, and the same
// when they are written and read again.
func FuzzMetrics(f *testing.F) {
	f.Add([]byte(`{"unit":1,"seconds":0.5,"loss":1,"lr":0.1,"words_per_second":2,"pairs_per_second":3}` + "\n" + `{"unit":2,"seconds":0.6}` + "\n" + `{"un`))
	f.Add([]byte("{}\n\nnull\n"))
	f.Add([]byte(string(sealed([]byte(`{"unit":1,"loss":1`))) + "\n" + string(sealed([]byte(`{"unit":2,"later":[3]`))) + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		metrics, err := decodeMetrics(data, "metrics")
		if err != nil {
			return
		}
		var text []byte
		for _, m := range metrics {
			line, err := m.encode()
			if err != nil {
				t.Fatal(err)
			}
			text = append(text, line...)
		}
		if again, err := decodeMetrics(text, "metrics"); err != nil || !reflect.DeepEqual(again, metrics) {
			t.Errorf("read %+v, then %+v, %v", metrics, again, err)
		}
	})
}

// FuzzSummary reads any summary.
func FuzzSummary(f *testing.F) {
	f.Add([]byte(`{"mode":"cl","threads":2,"dim":100,"memory_bytes":{"total":5,"peak":7},"interrupted":true}`))
	f.Add([]byte(`{"dim":-1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := decodeSummary(data)
		if err != nil {
			return
		}
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := decodeSummary(text); err != nil || again != s {
			t.Errorf("read %+v, then %+v, %v", s, again, err)
		}
	})
}
