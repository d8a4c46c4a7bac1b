package device

import "github.com/w2vcl/w2vcl/trainer"

// A Trainer trains on a device.
type Trainer interface {
	trainer.Trainer
	trainer.Series
	trainer.OnDevice
}

// A mirror is the part that trainers on a device share: a trainer of the host
// that trains nothing and keeps a copy of the device's tables and moments, for
// checkpoints and vectors.
type mirror[H host] struct {
	host   H
	device Device
	sent   bool // the device has the host's state, or a newer one
	fresh  bool // both are as they were made
}

type host interface {
	Units() int
	Tables() (words, contexts []float32)
	State() []trainer.Tensor
	Reset()
}

// Units is the number of units of the whole run, fixed in advance.
func (m *mirror[H]) Units() int { return m.host.Units() }

// Tables returns W and C as they were pulled last, V x Dim in row-major order.
// Refresh brings the rows of an encoder up to date.
func (m *mirror[H]) Tables() (words, contexts []float32) { return m.host.Tables() }

// State returns everything that training changes, as it was pulled last.
func (m *mirror[H]) State() []trainer.Tensor { return m.host.State() }

// Push tells the trainer that State was written to.
func (m *mirror[H]) Push() { m.sent, m.fresh = false, false }

// Reset goes back to the start of training.
func (m *mirror[H]) Reset() {
	m.host.Reset()
	m.sent, m.fresh = false, false
}

// Device returns the name of the device and the most of its memory that was in
// use.
func (m *mirror[H]) Device() (name string, peak int64) { return m.device.Name(), m.device.Peak() }
