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
		"HalfTable": {unsafe.Sizeof(halfTableArgs{}), 328}, "HalfLaunch": {unsafe.Sizeof(halfLaunchArgs{}), 352},
		"Sharing": {unsafe.Sizeof(sharingArgs{}), 232}, "ClSplit": {unsafe.Sizeof(splitArgs{}), 328},
		"SampleArgs": {unsafe.Sizeof(sampleArgs{}), 80}, "ShareArgs": {unsafe.Sizeof(shareArgs{}), 120}, "Job": {unsafe.Sizeof(job{}), 32}, "Loss": {unsafe.Sizeof(lossUnits{}), 16},
		"TemperedTable": {unsafe.Sizeof(temperedTable{}), 344}, "DenseShape": {unsafe.Sizeof(denseShape{}), 16}, "TemperedLaunch": {unsafe.Sizeof(temperedArgs{}), 416},
	} {
		if sizes[0] != sizes[1] {
			t.Errorf("%s has %d bytes, the kernels' %d", name, sizes[0], sizes[1])
		}
	}
}
