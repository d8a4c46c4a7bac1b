//go:build gpu

package cl

import (
	"testing"
	"unsafe"
)

// Structures have the same sizes as those of the kernels.
func TestStructureSizes(t *testing.T) {
	for name, sizes := range map[string][2]uintptr{
		"ClTable": {unsafe.Sizeof(TableArgs{}), 88}, "ClLaunch": {unsafe.Sizeof(launchArgs{}), 112}, "ClStep": {unsafe.Sizeof(Step{}), 20},
		"HalfTable": {unsafe.Sizeof(halfTableArgs{}), 96}, "HalfLaunch": {unsafe.Sizeof(halfLaunchArgs{}), 120},
		"ColumnArgs": {unsafe.Sizeof(columnArgs{}), 48},
	} {
		if sizes[0] != sizes[1] {
			t.Errorf("%s has %d bytes, the kernels' %d", name, sizes[0], sizes[1])
		}
	}
}
