package chisquare

import "testing"

func TestChiSquareFindsFaults(t *testing.T) {
	counts := make([]int, 10)
	for k := range 100000 {
		counts[k%10]++
	}
	if z := deviation(counts); z > -5.2 {
		t.Errorf("exactly even counts are only %.1f off", z)
	}
	counts[3] += 800
	if z := deviation(counts); z < 5.2 {
		t.Errorf("one cell 8%% too likely is only %.1f off", z)
	}
}
