package machine

import "testing"

func TestCountList(t *testing.T) {
	for list, want := range map[string]int{"0": 1, "0-3\n": 4, "0-3,7,10-11": 7, "": 0, "x": 0, "3-1": 0} {
		if got := countList(list); got != want {
			t.Errorf("%q has %d processors, not %d", list, got, want)
		}
	}
}
