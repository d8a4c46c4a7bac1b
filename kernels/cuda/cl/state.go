//go:build gpu

package cl

import (
	"fmt"

	"gorgonia.org/cu"
)

// This file copies the state of training to the device and back, for checkpoints.

// Send sends a tensor of the state of graph's trainer, by its name there. With half precision
// moments are rounded to bfloat16.
func (k *Kernels) Send(name string, values []float32) error {
	return k.transfer(name, values, k.sendTable, k.sendMoments, k.sendOfRows)
}

// Receive receives a tensor of the state of graph's trainer.
func (k *Kernels) Receive(name string, values []float32) error {
	return k.transfer(name, values,
		func(from table, to []float32) error { return k.receiveTable(to, from) },
		func(from cu.DevicePtr, to []float32) error { return k.receiveMoments(to, from) },
		func(from cu.DevicePtr, to []float32) error { return k.receiveOfRows(to, from) })
}

// transfer copies a tensor: a table or moments, (V, N), or second moments of rows, (V).
func (k *Kernels) transfer(name string, values []float32,
	ofTable func(table, []float32) error, ofMoments, ofRows func(cu.DevicePtr, []float32) error) error {
	words, contexts := k.tables[0], k.tables[1]
	tables := map[string]table{"words": words, "contexts": contexts}
	moments := map[string]cu.DevicePtr{
		"words.first-moment": words.First, "words.second-moment": words.Second,
		"contexts.first-moment": contexts.First, "contexts.second-moment": contexts.Second,
	}
	rowMoments := map[string]cu.DevicePtr{
		"words.second-moment": words.SecondOfRow, "contexts.second-moment": contexts.SecondOfRow,
	}
	c := k.options
	err := k.device.Do(func() error {
		whole := len(values) == c.Rows*c.Dim
		switch {
		case whole && tables[name].values != 0:
			return ofTable(tables[name], values)
		case whole && moments[name] != 0:
			return ofMoments(moments[name], values)
		case rowMoments[name] != 0 && len(values) == c.Rows:
			return ofRows(rowMoments[name], values)
		}
		return fmt.Errorf("there is no such tensor of %d values for %d rows of dimension %d and optimizer %s", len(values), c.Rows, c.Dim, c.Method)
	})
	if err != nil {
		return fmt.Errorf("copy %s: %w", name, err)
	}
	return nil
}
