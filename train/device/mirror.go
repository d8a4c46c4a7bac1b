package device

import (
	"fmt"
	"strings"
	"time"

	"github.com/w2vcl/w2vcl/graph"
	"github.com/w2vcl/w2vcl/train/trainer"
)

// A Trainer trains on a device.
type Trainer interface {
	trainer.Trainer
	trainer.Series
	trainer.OnDevice
}

// A mirror is the part that trainers on a device share: a model on the host, which keeps a copy of the
// device's tables and moments for checkpoints and vectors.
type mirror struct {
	host    host
	units   int
	device  Device
	kernels tensors // nil: a trainer of its own brings the tables
	sent    bool    // the device has the host's state, or a newer one
	fresh   bool    // all but W, or what it is composed of, are zeros on either side
}

type host interface {
	Tables() (words, contexts []float32)
	State() []trainer.Tensor
	Refresh() error
	Reset()
}

// tensors are kernels that have the tensors of the host's state, by their names.
type tensors interface {
	Send(name string, values []float32) error
	Receive(name string, values []float32) error
}

// Units is the number of units of the whole run, fixed in advance.
func (m *mirror) Units() int { return m.units }

// Tables returns W and C as they were pulled last, V x Dim in row-major order.
// Refresh brings rows that are composed up to date.
func (m *mirror) Tables() (words, contexts []float32) { return m.host.Tables() }

// Refresh composes the rows of W on the host, if they are composed.
func (m *mirror) Refresh() error { return m.host.Refresh() }

// State returns everything that training changes, as it was pulled last.
func (m *mirror) State() []trainer.Tensor { return m.host.State() }

// Push tells the trainer that State was written to.
func (m *mirror) Push() { m.sent, m.fresh = false, false }

// Reset goes back to the start of training.
func (m *mirror) Reset() {
	m.host.Reset()
	m.sent, m.fresh = false, false
}

// Device returns the name of the device and the most of its memory that was in
// use.
func (m *mirror) Device() (name string, peak int64) { return m.device.Name(), m.device.Peak() }

// Ready brings the host's state to the device unless the device has it.
func (m *mirror) Ready() error {
	if m.sent {
		return nil
	}
	for _, t := range m.host.State() {
		zeros := t.Name == "contexts" || isMoment(t) || strings.HasSuffix(t.Name, graph.Updates)
		if m.fresh && zeros || t.Name == graph.MinibatchesTensor {
			continue
		}
		if err := m.kernels.Send(t.Name, t.Data); err != nil {
			return err
		}
	}
	m.sent = true
	return nil
}

// Pull brings the tables to the host, and with everything set the moments, too.
func (m *mirror) Pull(everything bool) error {
	if !m.sent {
		return nil // the host has everything
	}
	return receive(m.host.State(), everything, m.kernels)
}

// receive receives tensors of a state from a device: with everything set the moments, too. Minibatches are
// counted on the host.
func receive(state []trainer.Tensor, everything bool, from tensors) error {
	for _, t := range state {
		if !everything && isMoment(t) || t.Name == graph.MinibatchesTensor {
			continue
		}
		if err := from.Receive(t.Name, t.Data); err != nil {
			return fmt.Errorf("receive the state of training: %w", err)
		}
	}
	return nil
}

func isMoment(t trainer.Tensor) bool { return strings.HasSuffix(t.Name, "-moment") }

// launchSeconds is how long a launch should take. It is so long that its end, when
// the last sentences leave most of the device idle, is no loss, and so short that
// people see progress and an interrupt works soon.
const launchSeconds = 0.15

// A pace chooses the length of series by the time that the last one took.
type pace struct {
	trained int     // units of the last series
	seconds float64 // of a unit in it
}

func (p *pace) took(units int, d time.Duration) {
	p.trained, p.seconds = units, d.Seconds()/float64(units)
}

// SeriesLength returns how many units to train at a time: more and more, up to
// launchSeconds.
func (p *pace) SeriesLength() int {
	if p.trained == 0 {
		return 1
	}
	return max(1, min(4*p.trained, int(launchSeconds/max(p.seconds, 1e-9))))
}
