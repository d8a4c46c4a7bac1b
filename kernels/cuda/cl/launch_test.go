//go:build gpu

package cl

import (
	"testing"

	"github.com/w2vcl/w2vcl/kernels/cuda"
)

// Structures of arguments are those of the kernels.
func TestLayouts(t *testing.T) {
	sameLayout(t, map[string]any{
		"Loss": lossUnits{}, "ColumnsLaunch": columnsArgs{}, "SampleArgs": sampleArgs{}, "ShareArgs": shareArgs{}, "Job": job{}, "DenseKernel": denseKernel{},
		"StepNumbers": cuda.StepNumbers{}, "StepLaunch": stepArgs{}, "StretchArgs": stretchArgs{}, "PartsArgs": partsArgs{},
	})
}

func methodOf(name string) cuda.Method {
	m, err := cuda.FindMethod(name)
	if err != nil {
		panic(err)
	}
	return m
}
