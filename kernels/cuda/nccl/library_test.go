package nccl

import "testing"

func TestVersion(t *testing.T) {
	for number, want := range map[int]string{22809: "2.28.9", 21803: "2.18.3", 2804: "2.8.4"} {
		if got := versionOf(number); got != want {
			t.Errorf("%d is %s, want %s", number, got, want)
		}
	}
}
