//go:build gpu

package cuda

import "gorgonia.org/cu"

// A State is the memory of an optimizer's state for a table of some rows; what a method does not have is 0.
type State struct{ First, Second, SecondOfRow cu.DevicePtr }

// State takes the memory of the state of a table: rows of so many bytes.
func (a *Allocator) State(m Method, rows, rowBytes int) (s State) {
	if m.First {
		s.First = a.Bytes("first moments", rows*rowBytes)
	}
	if m.Second {
		s.Second = a.Bytes("second moments", rows*rowBytes)
	}
	if m.SecondOfRow {
		s.SecondOfRow = a.Floats("second moments", rows)
	}
	return s
}
