//go:build gpu

package cuda

import (
	"fmt"

	"gorgonia.org/cu"
)

// This file brings what training changes to the device and back, for
// checkpoints.

// Send sends a tensor of graph.TwoStep's state, by its name there. With half
// precision moments are rounded to bfloat16.
func (t *CL) Send(name string, values []float32) error {
	return t.transfer(name, values, t.sendTable, t.sendMoments, send[float32])
}

// Receive receives a tensor of graph.TwoStep's state.
func (t *CL) Receive(name string, values []float32) error {
	return t.transfer(name, values,
		func(from clTable, to []float32) error { return t.receiveTable(to, from) },
		func(from cu.DevicePtr, to []float32) error { return t.receiveMoments(to, from) },
		func(from cu.DevicePtr, to []float32) error { return receive(to, from) })
}

// transfer copies a tensor: a table or moments, (V, N), or second moments of rows, (V).
func (t *CL) transfer(name string, values []float32,
	table func(clTable, []float32) error, moments, whole func(cu.DevicePtr, []float32) error) error {
	words, contexts := t.tables[0], t.tables[1]
	tables := map[string]clTable{"words": words, "contexts": contexts}
	ofValues := map[string]cu.DevicePtr{
		"words.first-moment": words.first, "words.second-moment": words.second,
		"contexts.first-moment": contexts.first, "contexts.second-moment": contexts.second,
	}
	ofRows := map[string]cu.DevicePtr{
		"words.second-moment": words.secondOfRow, "contexts.second-moment": contexts.secondOfRow,
	}
	c := t.config
	err := t.device.do(func() error {
		all := len(values) == c.Rows*c.Dim
		switch {
		case all && tables[name].values != 0:
			return table(tables[name], values)
		case all && ofValues[name] != 0:
			return moments(ofValues[name], values)
		case ofRows[name] != 0 && len(values) == c.Rows:
			return whole(ofRows[name], values)
		}
		return fmt.Errorf("there is no such tensor of %d values for %d rows of dimension %d and optimizer %s", len(values), c.Rows, c.Dim, c.Method)
	})
	if err != nil {
		return fmt.Errorf("copy %s: %w", name, err)
	}
	return nil
}
