package main

import (
	"bytes"
	"errors"
	"os"
	"testing"
	"time"
)

// TestGolden compares our file with TensorBoard's own, from testdata/events/make_golden.py.
func TestGoldenEvents(t *testing.T) {
	want, err := os.ReadFile("testdata/events/golden.tfevents")
	if err != nil {
		t.Fatal(err)
	}
	start := time.Unix(1_700_000_000, 500_000_000)
	var got bytes.Buffer
	w, err := newEventWriter(&got, start)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []struct {
		step int64
		loss float64
	}{{1, 0.6931471805599453}, {300, 0.25}, {1 << 40, 1e-30}} {
		if err := w.add(start.Add(2*time.Second), e.step, []scalar{{"loss", e.loss}, {"words_per_second", 1.5e6}}); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("got\n%x, TensorBoard writes\n%x", got.Bytes(), want)
	}
}

type fullDisk struct{}

var errFull = errors.New("full")

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestEventErrors(t *testing.T) {
	w, err := newEventWriter(fullDisk{}, time.Now())
	if !errors.Is(err, errFull) {
		t.Errorf("error %v", err)
	}
	if err := w.add(time.Now(), 1, nil); !errors.Is(err, errFull) {
		t.Errorf("error %v", err)
	}
}
