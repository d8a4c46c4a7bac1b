package corpus

import (
	"math"
	"testing"
)

func TestKeepThresholds(t *testing.T) {
	const never = math.MaxUint32
	// A thousand tokens: relative frequencies .5, .3, .1, .0999, .0001 and 0.
	counts := []uint64{5000, 3000, 1000, 999, 1, 0}
	for _, test := range []struct {
		sample float64
		keep   []float64 // probability
	}{
		{1e-2, []float64{.161421, .215908, .416228, .416486, 1, 1}},
		{1e-4, []float64{.0143421, .0185907, .0326228, .0326396, 1, 1}},
		{0, []float64{1, 1, 1, 1, 1, 1}},
		{-1, []float64{1, 1, 1, 1, 1, 1}},
		{math.NaN(), []float64{1, 1, 1, 1, 1, 1}},
		{math.Inf(1), []float64{1, 1, 1, 1, 1, 1}},
		{1e-30, []float64{0, 0, 0, 0, 0, 1}},
	} {
		for i, got := range KeepThresholds(counts, test.sample) {
			keep := (float64(got) + 1) / (1 << 32)
			if math.Abs(keep-test.keep[i]) > 1e-6 || test.keep[i] == 1 && got != never {
				t.Errorf("sample %v, count %d: threshold %d, probability %.7f, want %.7f", test.sample, counts[i], got, keep, test.keep[i])
			}
		}
	}
	if got := KeepThresholds(nil, 1e-4); len(got) != 0 {
		t.Errorf("no words, but %d thresholds", len(got))
	}
}

func TestCountPower(t *testing.T) {
	counts := []uint64{0, 1, 2, 16, 1_173_451, 1 << 60}
	for _, exponent := range []float64{0, .5, .75, 1, 1.25} {
		for i, got := range CountPower(counts, exponent) {
			want := math.Pow(float64(counts[i]), exponent)
			if counts[i] == 0 {
				want = 0
			}
			if math.Abs(got-want) > 1e-14*want {
				t.Errorf("%d to the power of %v is %v, want %v", counts[i], exponent, got, want)
			}
		}
	}
}
