//go:build gpu

package cuda

import (
	"fmt"

	"gorgonia.org/cu"
)

// This file brings what training changes to the device and back, for
// checkpoints.

// Send sends a tensor of graph.TwoStep's state, by its name there.
func (t *CL) Send(name string, values []float32) error {
	return t.transfer(name, values, sendTable, send[float32])
}

// Receive receives a tensor of graph.TwoStep's state.
func (t *CL) Receive(name string, values []float32) error {
	return t.transfer(name, values,
		func(p cu.DevicePtr, to []float32, dim int) error { return receiveTable(to, p, dim) },
		func(p cu.DevicePtr, to []float32) error { return receive(to, p) })
}

// transfer copies a tensor: (V, N) in padded rows, or (V) as it is.
func (t *CL) transfer(name string, values []float32,
	rows func(cu.DevicePtr, []float32, int) error, whole func(cu.DevicePtr, []float32) error) error {
	words, contexts := &t.tables[0], &t.tables[1]
	tables := map[string]cu.DevicePtr{
		"words": words.values, "words.first-moment": words.first, "words.second-moment": words.second,
		"contexts": contexts.values, "contexts.first-moment": contexts.first, "contexts.second-moment": contexts.second,
	}
	vectors := map[string]cu.DevicePtr{
		"words.second-moment": words.secondOfRow, "contexts.second-moment": contexts.secondOfRow,
	}
	c := t.config
	err := t.device.do(func() error {
		switch {
		case tables[name] != 0 && len(values) == c.Rows*c.Dim:
			return rows(tables[name], values, c.Dim)
		case vectors[name] != 0 && len(values) == c.Rows:
			return whole(vectors[name], values)
		}
		return fmt.Errorf("there is no such tensor of %d values for %d rows of dimension %d and optimizer %s", len(values), c.Rows, c.Dim, c.Method)
	})
	if err != nil {
		return fmt.Errorf("copy %s: %w", name, err)
	}
	return nil
}
