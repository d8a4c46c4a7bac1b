//go:build gpu

package cuda

import (
	"fmt"
	"strings"

	"gorgonia.org/cu"
)

// Send sends a tensor of graph.TwoStep's state, by its name there.
func (t *EncodedCL) Send(name string, values []float32) error {
	if strings.HasPrefix(name, "contexts") {
		return t.CL.Send(name, values)
	}
	return t.transfer(name, values, func(p cu.DevicePtr, columns, stride int) error {
		if err := sendRows(p, values, columns, stride); err != nil {
			return err
		}
		return t.encoder.sent()
	})
}

// Receive receives a tensor of graph.TwoStep's state.
func (t *EncodedCL) Receive(name string, values []float32) error {
	if strings.HasPrefix(name, "contexts") {
		return t.CL.Receive(name, values)
	}
	return t.transfer(name, values, func(p cu.DevicePtr, columns, stride int) error { return receiveRows(values, p, columns, stride) })
}

// transfer copies a tensor of the encoder or of words' own vectors.
func (t *EncodedCL) transfer(name string, values []float32, rows func(p cu.DevicePtr, columns, stride int) error) error {
	x, ok := t.tensors[name]
	if !ok || len(values) != x.rows*x.columns {
		return fmt.Errorf("copy %s: the encoder has no such tensor of %d values", name, len(values))
	}
	if err := t.device.do(func() error { return rows(x.at, x.columns, x.stride) }); err != nil {
		return fmt.Errorf("copy %s: %w", name, err)
	}
	return nil
}

// A tensor is part of the state of training, rows padded to stride.
type tensor struct {
	at                    cu.DevicePtr
	rows, columns, stride int
}

// addTensors adds a parameter and the moments it has.
func (t *EncodedCL) addTensors(name string, m matrix) {
	for suffix, x := range map[string]tensor{
		"":               {m.value, m.rows, m.columns, m.stride},
		".first-moment":  {m.first, m.rows, m.columns, m.stride},
		".second-moment": {m.second, m.rows, m.columns, m.stride},
	} {
		if x.at != 0 {
			t.tensors[name+suffix] = x
		}
	}
	if m.secondOfRow != 0 {
		t.tensors[name+".second-moment"] = tensor{m.secondOfRow, m.rows, 1, 1}
	}
}
