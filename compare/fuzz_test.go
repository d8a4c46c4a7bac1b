package compare

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/cespare/xxhash/v2"

	"github.com/w2vcl/w2vcl/compare/experiment"
	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/evaluate"
	"github.com/w2vcl/w2vcl/evaluate/words"
	"github.com/w2vcl/w2vcl/internal/testfiles"
)

// recordExample is a record of a finished run.
func recordExample() *Record {
	return &Record{
		Variant: experiment.Variant{Name: "cl", Mode: "cl"}, Seed: 3, Settings: map[string]string{"dim": "50", "mode": "cl"},
		Budget: "1 epoch", Observations: 2, Fingerprint: corpus.Hex(9), Sets: []string{"similarity WS-353, 20 items"},
		Points: []Point{
			{Fraction: 0.5, Units: 10, Seconds: 1.5, Pairs: 1e6, Loss: 0.4, Scores: []evaluate.Result{{Task: "similarity", Dataset: "WS-353", Metric: "spearman", Score: 0.5, Found: 19, Total: 20}}},
			{Fraction: 1, Units: 20, Seconds: 3, Pairs: 2e6, Loss: 0.3, Bands: []words.Band{{MinCount: 5, MaxCount: 9, Words: 7, Mean: 1, Variance: 0.5}}},
		},
		Finished: true,
	}
}

// TestRecordDamaged: a record with flipped bits is refused.
func TestRecordDamaged(t *testing.T) {
	data, err := recordExample().encode()
	if err != nil {
		t.Fatal(err)
	}
	testfiles.Copies(t, data, func(file []byte) (Record, error) { return decodeRecord(bytes.Clone(file)) })
}

// FuzzRecord reads records with right checksums and any content.
func FuzzRecord(f *testing.F) {
	data, err := recordExample().encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"name":"cl","points":[{"units":-1},{"units":-2}],"observations":-1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		data = bytes.Clone(data)
		if digits := sumDigits(data); digits != nil {
			copy(digits, noSum)
			copy(digits, corpus.Hex(xxhash.Sum64(data)))
		}
		r, err := decodeRecord(data)
		if err != nil {
			return
		}
		written, err := r.encode()
		if err != nil {
			t.Fatal(err)
		}
		if again, err := decodeRecord(bytes.Clone(written)); err != nil || !reflect.DeepEqual(again, r) {
			second, _ := again.encode()
			if !bytes.Equal(written, second) { // a list may be empty or nil
				t.Errorf("read %+v, then %+v, %v", r, again, err)
			}
		}
	})
}
