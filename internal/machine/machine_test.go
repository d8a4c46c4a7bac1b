package machine

import "testing"

func TestMemory(t *testing.T) {
	if got := PeakRSS(); got < 1<<20 || got > 1<<40 {
		t.Errorf("peak memory of %d bytes", got)
	}
	if total, available := Memory(); total < available || total < PeakRSS() {
		t.Errorf("memory %d, available %d", total, available)
	}
}
