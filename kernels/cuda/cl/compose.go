//go:build gpu

package cl

import (
	"gorgonia.org/cu"

	"github.com/w2vcl/w2vcl/kernels/cuda"
)

// A FirstStep trains step 1 where the rows of W are composed and no table: package subword
// has encoders that do so.
type FirstStep interface {
	// Losses returns how many losses Launch has written for a step.
	Losses() int
	// Rate returns the learning rate of the parameters divided by the rate of tables.
	Rate() float64
	// Launch starts the step.
	Launch(StepMemory) error
}

// StepMemory is where in the device's memory a first step reads and writes.
type StepMemory struct {
	Tables     cu.DevicePtr // Step of tables
	Parameters cu.DevicePtr // Step of the parameters
	Column     cu.DevicePtr // samples of M, (V)
	Losses     cu.DevicePtr // (Losses()), to be written
}

// NewComposed is New for composed rows of W, which have no moments. SetFirstStep has to
// follow.
func NewComposed(d *cuda.Device, c Config) (*Kernels, error) {
	return newKernels(d, c, whole, whole, true)
}

// SetFirstStep sets the trainer of step 1.
func (k *Kernels) SetFirstStep(s FirstStep) error {
	k.first = s
	return k.device.Do(func() (err error) {
		k.firstLosses, err = k.device.Allocate("losses", int64(4*SeriesLength*s.Losses()))
		return err
	})
}

// launchComposed starts the first iterations of a series. The totals of the first steps of all
// iterations come first, then the totals of the second steps.
func (k *Kernels) launchComposed(count int) error {
	each := k.first.Losses()
	for i := range count {
		err := k.first.Launch(StepMemory{
			Tables: k.stepAt(2 * i), Parameters: k.stepAt(steps + i), Column: k.samplesAt(2 * i),
			Losses: k.firstLosses + cu.DevicePtr(4*i*each),
		})
		if err != nil {
			return err
		}
		if err := k.launchStep(2*i+1, i, false); err != nil {
			return err
		}
	}
	if err := k.sumLosses(count, k.firstLosses, each, k.totals); err != nil {
		return err
	}
	return k.sumLosses(count, k.losses, k.shape.losses, k.totals+8*SeriesLength)
}
