//go:build gpu

package subword

import (
	"errors"
	"fmt"
	"testing"
	"unsafe"

	"gorgonia.org/cu"

	"github.com/w2vcl/w2vcl/kernels/cuda"
	"github.com/w2vcl/w2vcl/kernels/cuda/cl"
)

// Structures have the same sizes as those of the kernels.
func TestStructureSizes(t *testing.T) {
	for what, sizes := range map[string][2]uintptr{
		"Cnn": {unsafe.Sizeof(cnnArgs{}), 1256}, "Product": {unsafe.Sizeof(productArgs{}), 88},
		"Beside":  {unsafe.Sizeof(besideArgs{}), 56},
		"Updates": {unsafe.Sizeof(updatesArgs{}), 984}, "Lists": {unsafe.Sizeof(listsArgs{}), 1392},
	} {
		if sizes[0] != sizes[1] {
			t.Errorf("%s has %d bytes, the kernels' %d", what, sizes[0], sizes[1])
		}
	}
}

// Operations runs all operations of a CNN once, with a given gradient of the rows in place of
// the gradient of the loss. It returns their results by name: features, standardized, rows,
// gradient of y, and the gradients of the parameters; and as factors of products the weights and the gradient.
func (k *Kernels) Operations(gradient []float32) (written map[string][]float32, err error) {
	x := k.encoder.(*cnn)
	g, v, dim, d := &x.args, k.options.Rows, k.options.Dim, int(x.args.d)
	rows := k.Rows()
	written = map[string][]float32{}
	receive := func(name string, p cu.DevicePtr, rows, columns, stride int) {
		values := make([]float32, rows*columns)
		err = errors.Join(err, cuda.ReceiveRows(values, p, columns, stride))
		written[name] = values
	}
	failed := k.device.Do(func() error {
		a := &cuda.Allocator{Device: k.device}
		step := cuda.Placed(a, "step", []cuda.StepNumbers{{Keep: 1, Scale: 1e-3, Epsilon: 1e-3, Rate: 1e-3}})
		err := a.Err
		if err != nil {
			return err
		}
		if err := errors.Join(x.prepare(rows, k.words.value, cl.StepMemory{}), x.compose(rows, k.words.value)); err != nil {
			return err
		}
		if err := sendNarrow(x.ofRows, scaled(gradient, gradientUnits), v, dim); err != nil {
			return err
		}
		if err := errors.Join(x.gradient(step), x.update(step), k.device.Stream().Synchronize()); err != nil {
			return err
		}
		written["standardized"], err = receiveNarrow(g.y, v, d)
		narrow, failed := receiveNarrow(x.ofRows, v, dim)
		written["narrow gradient"], err = scaled(narrow, 1./gradientUnits), errors.Join(err, failed)
		written["narrow weights"], failed = receiveNarrow(g.weights, d, dim)
		err = errors.Join(err, failed)
		receive("rows", rows, v, dim, stride(dim))
		receive("gradient of y", g.dy, v, d, stride(d))
		symbols := x.all["symbols"]
		receive("gradient of symbols", g.dembeddings, symbols.rows, symbols.columns, symbols.stride)
		receive("gradient of weights", g.layer.gradient, d+1, dim, stride(dim))
		for i := range g.widths {
			w := g.width[i]
			receive(fmt.Sprintf("gradient of filters%d.width%d", i, w), g.dfilters+cu.DevicePtr(4*g.first[i]), int(w*g.e)+1, int(g.count[i]), int(g.count[i]))
		}
		g.kept = 0 // so that all features are written
		err = errors.Join(err, x.compose(rows, k.words.value), k.device.Stream().Synchronize())
		receive("features", g.summed, v, d, d)
		return err
	})
	return written, errors.Join(failed, err)
}
