package runfolder

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/internal/testfiles"
	"github.com/w2vcl/w2vcl/train/trainer"
)

// A damaged copy of the metrics of a stopped run, without a checkpoint and without a list of checksums, is
// refused; but nobody can tell a last line without its end from one that is being written.
func TestDamagedMetrics(t *testing.T) {
	var lines bytes.Buffer
	r := NewRecorder(&lines, 10, Position{}, done)
	for unit := range 10 {
		r.Add(trainer.Report{Pairs: 10, Loss: float64(5 - unit%3), Words: 3}, 0.025, float64(unit)/8)
		if err := r.Flush(r.Seconds); err != nil {
			t.Fatal(err)
		}
	}
	want, err := decodeMetrics(lines.Bytes(), "metrics")
	if err != nil || len(want) != 10 {
		t.Fatalf("%d lines, %v", len(want), err)
	}
	refused := testfiles.Copies(t, lines.Bytes(), func(file []byte) ([]Metric, error) {
		got, err := decodeMetrics(file, "metrics")
		if err == nil && (len(got) > len(want) || !reflect.DeepEqual(got, want[:len(got)])) {
			t.Errorf("read %+v", got)
		}
		return got[:min(len(got), len(want)-1)], err
	})
	if refused == 0 {
		t.Error("no copy was refused")
	}
}

func done(Position) float64 { return 1 }

// TestNoPairs: a line of units without pairs has the loss of the line before.
func TestNoPairs(t *testing.T) {
	r := NewRecorder(nil, 2, Position{}, done)
	for unit, pairs := range []float64{4, 0} {
		r.Add(trainer.Report{Pairs: pairs, Loss: pairs / 2}, 0.025, float64(unit))
		if err := r.Flush(r.Seconds); err != nil || r.Last.Loss != 0.5 {
			t.Errorf("unit %d: loss %v, %v", unit, r.Last.Loss, err)
		}
	}
}

func TestDecodeMetrics(t *testing.T) {
	good := string(sealed([]byte(`{"unit":1,"loss":0.5`)))
	for _, test := range []struct{ name, text, want string }{
		{"with a checksum", good + "\n", ""},
		{"of a later version", string(sealed([]byte(`{"unit":1,"later":[1]`))) + "\n", ""},
		{"being written", good + "\n" + good[:30], ""},
		{"without its end", good + "\n" + good, ""},
		{"another value", strings.Replace(good, "0.5", "0.6", 1) + "\n", "metrics:1: the line is not what w2vcl wrote"},
		{"another checksum", good[:len(good)-3] + "x\"}\n", "its checksum does not match"},
		{"another key", strings.Replace(good, "loss", "lass", 1) + "\n", "its checksum does not match"},
		{"another key of the checksum", strings.Replace(good, "xxh", "xxg", 1) + "\n", "it has no checksum"},
		{"two in a line", `{"unit":1}{"unit":2}` + "\n", "it has no checksum"},
		{"another end", good + "J", `the line ends, and "J" follows`},
	} {
		_, err := decodeMetrics([]byte(test.text), "metrics")
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
}
