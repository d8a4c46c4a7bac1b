//go:build gpu

package cl

import (
	"fmt"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/kernels/cuda"
	"github.com/w2vcl/w2vcl/kernels/cuda/cudatest"
	"github.com/w2vcl/w2vcl/optim"
)

// Bytes of shared memory that a thread block may have, by compute capability.
const (
	shared86 = 99 << 10 // and 8.9
	shared80 = 163 << 10
	shared90 = 227 << 10
)

// asSmall makes a device run the kernels that an RTX card runs.
func asSmall(d *cuda.Device) {
	d.Portable()
	d.SharedOfBlock = shared86
}

// The sources of kernels, and whether all negatives stay in shared memory, which has room for them.
func TestStepShape(t *testing.T) {
	d := cudatest.Open(t)
	asSmall(d)
	for _, x := range []struct {
		shared    int
		name      string
		negatives int
		sources   []string
		want      string // "": refused
		groups    int
		all       bool
	}{
		{shared90, "step_adam_1", 64, stepSources, "step", 1, true},
		{shared90, "step_adam_2", 64, stepSources, "step", 2, true},
		{shared90, "step_adam_3", 64, stepSources, "step", 2, true},
		{shared90, "step_adam_4", 64, stepSources, "step", 2, true},
		{shared90, "step_adam_8", 64, stepSources, "step", 1, false},
		{shared90, "stretch_errors_3", 64, errorsSources, "stretch_errors", 3, true},
		{shared80, "step_adam_3", 64, stepSources, "step", 1, true},
		{shared80, "step_adam_3", 300, stepSources, "step", 1, false},
		{shared80, "step_adam_4", 1, stepSources, "", 0, false},
		{shared80, "stretch_errors_4", 1, errorsSources, "", 0, false},
		{shared86, "step_adam_1", 64, stepSources, "step", 1, true},
		{shared86, "stretch_errors_1", 64, errorsSources, "stretch_errors", 2, true},
		{shared86, "step_adam_2", 32, stepSources, "step_small", 2, true},
		{shared86, "step_adam_2", 64, stepSources, "step_small", 1, true},
		{shared86, "step_adam_2", 1024, stepSources, "step_small", 1, false},
		{shared86, "stretch_errors_2", 64, errorsSources, "stretch_errors", 1, true},
		{shared86, "step_adam_3", 32, stepSources, "step_small", 1, true},
		{shared86, "step_adam_3", 64, stepSources, "step_small", 1, false},
		{shared86, "step_adam_3", 1024, stepSources, "step_small", 1, false},
		{shared86, "stretch_errors_3", 32, errorsSources, "stretch_errors_small", 1, true},
		{shared86, "stretch_errors_3", 1024, errorsSources, "stretch_errors_small", 1, false},
		{shared86, "step_adam_3", 0, stepSources, "step", 1, true},
		{shared86, "step_adam_4", 1, stepSources, "", 0, false},
		{shared86, "stretch_errors_4", 1, errorsSources, "", 0, false},
		{shared86, "step_adam_8", 1, stepSources, "", 0, false},
	} {
		d.SharedOfBlock = x.shared
		if err := d.Do(func() error {
			_, shape, err := loadDense(d, x.negatives, x.sources, "", x.name)
			if (err != nil) != (x.want == "") {
				t.Errorf("%+v: error %v", x, err)
			}
			if err != nil {
				return nil
			}
			kernel, err := cuda.Constant[denseKernel](d, "cl/"+x.want, x.name+"_dense")
			chunks := ceil(x.negatives, int(kernel.chunk))
			if groups, all := shape.warps/tileRows, int(shape.dense.kept) == chunks; groups != x.groups || all != x.all || shape.shared > x.shared {
				t.Errorf("%+v: %d groups, all %v", x, groups, all)
			}
			return err
		}); err != nil {
			t.Error(err)
		}
	}
}

// smallTests have the lengths of vectors that an RTX card has kernels of its own for, with n-grams and without.
func smallTests() (tests []cbowTest) {
	for i, dim := range []int{129, 200, 256, 257, 300, 384} {
		tests = append(tests, cbowTest{dim, 300, 1500, 1 + i, 64, optim.Adam, i%2 == 1, i%4 == 1, .5},
			cbowTest{dim, 300, 700, 5, 1 + 19*i, optim.Adam, i%2 == 0, i%4 == 0, .8})
	}
	return append(tests,
		cbowTest{300, 1, 900, 5, 32, optim.Adam, false, false, .5}, cbowTest{384, 40, 300, 5, 1024, optim.Adam, true, true, .5},
		cbowTest{200, 2000, 5000, 5, 32, optim.AdamRow, true, true, 0}, cbowTest{300, 400, 1000, 5, 300, optim.AdamRow, false, false, .5},
		cbowTest{300, 400, 1000, 5, 32, optim.RMSProp, false, false, .5}, cbowTest{256, 400, 1000, 5, 64, optim.AdaGrad, true, false, .5},
		cbowTest{200, 65, 1281, 5, 33, optim.SGD, true, true, .5}, cbowTest{384, 500, 5000, 100, 64, optim.SGD, false, false, .9},
	)
}

// TestCBOW as on an RTX card.
func TestCBOWSmall(t *testing.T) {
	d := cudatest.Open(t)
	asSmall(d)
	for _, x := range smallTests() {
		t.Run(fmt.Sprintf("%+v", x), func(t *testing.T) { testCBOW(t, d, x) })
	}
}

// TestTempered as on an RTX card.
func TestTemperedSmall(t *testing.T) {
	d := cudatest.Open(t)
	asSmall(d)
	for _, method := range []optim.Method{optim.Adam, optim.AdamRow, optim.RMSProp, optim.SGD} {
		for i, dim := range []int{200, 256, 300, 384} {
			for _, x := range []temperedCase{
				{dim, 5, 64, method, .75, 4, 512, false}, {dim, 5, []int{1, 32, 100, 300}[i], method, 1, 8, 0, false},
			} {
				t.Run(x.String(), func(t *testing.T) { testTempered(t, d, x) })
			}
		}
	}
}

// An RTX card has small chunks neither for longer vectors nor for encoders: it refuses both.
func TestSmallErrors(t *testing.T) {
	d := cudatest.Open(t)
	asSmall(d)
	o := Options{Rows: 2, Dim: 200, Negatives: 1, SharedNegatives: 32, DrawShared: func([]uint32, int, int) {}, Alias: make([]uint32, 4), Method: "adam", composed: true}
	_, composed := New(d, o)
	_, long := NewCBOW(d, CBOWOptions{Rows: 2, Dim: 385, Negatives: 1, SharedNegatives: 32, Places: 2, Window: 1, Buffers: 1, Method: "adam", Beta1: .9, Beta2: .999})
	for _, err := range []error{composed, long} {
		if err == nil || !strings.Contains(err.Error(), "do not fit into the shared memory of "+d.Name) {
			t.Errorf("error %v", err)
		}
	}
}
