//go:build gpu

package cl

import (
	"testing"
	"unsafe"

	"github.com/w2vcl/w2vcl/kernels/cuda"
)

// Structures have the same sizes as those of the kernels.
func TestStructureSizes(t *testing.T) {
	for name, sizes := range map[string][2]uintptr{
		"StepNumbers": {unsafe.Sizeof(cuda.StepNumbers{}), 20}, "Table": {unsafe.Sizeof(cuda.Table{}), 64}, "Loss": {unsafe.Sizeof(lossUnits{}), 16},
		"Sharing": {unsafe.Sizeof(sharingArgs{}), 232}, "ColumnsLaunch": {unsafe.Sizeof(columnsArgs{}), 336},
		"SampleArgs": {unsafe.Sizeof(sampleArgs{}), 80}, "ShareArgs": {unsafe.Sizeof(shareArgs{}), 120}, "Job": {unsafe.Sizeof(job{}), 32},
		"StepTable": {unsafe.Sizeof(stepTable{}), 352}, "DenseShape": {unsafe.Sizeof(denseShape{}), 16}, "StepLaunch": {unsafe.Sizeof(stepArgs{}), 424},
	} {
		if sizes[0] != sizes[1] {
			t.Errorf("%s has %d bytes, the kernels' %d", name, sizes[0], sizes[1])
		}
	}
}

func methodOf(name string) cuda.Method {
	m, err := cuda.FindMethod(name)
	if err != nil {
		panic(err)
	}
	return m
}
