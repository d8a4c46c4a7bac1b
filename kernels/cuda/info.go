//go:build gpu

package cuda

import (
	"fmt"

	"gorgonia.org/cu"
)

// Info describes a device that need not be in use.
type Info struct {
	Name            string
	Memory          int64  // bytes
	Capability      [2]int // compute capability, major and minor
	Multiprocessors int
	SharedOfBlock   int // bytes of shared memory that a block may have
}

// Usable reports whether there are kernels for the device.
func (i Info) Usable() bool { return i.Capability[0] >= 8 }

// List returns the devices of the machine, and the version of CUDA that their
// driver has. Without a driver or device the error is ErrNoDevice, wrapped.
func List() (all []Info, driver string, err error) {
	count, err := devices()
	if err != nil {
		return nil, "", err
	}
	version := cu.Version()
	driver = fmt.Sprintf("%d.%d", version/1000, version%1000/10)
	for n := range count {
		info, err := describe(cu.Device(n))
		if err != nil {
			return all, driver, fmt.Errorf("CUDA device %d: %w", n, err)
		}
		all = append(all, info)
	}
	return all, driver, nil
}

// devices starts the driver and returns the number of its devices, at least 1.
func devices() (int, error) {
	if message := startDriver(); message != "" {
		return 0, fmt.Errorf("%w: %s", ErrNoDevice, message)
	}
	count, err := cu.NumDevices()
	if err != nil || count == 0 {
		return 0, fmt.Errorf("%w: the driver finds none (%v)", ErrNoDevice, err)
	}
	return count, nil
}

func describe(device cu.Device) (i Info, err error) {
	if i.Name, err = device.Name(); err != nil {
		return i, err
	}
	if i.Memory, err = device.TotalMem(); err != nil {
		return i, err
	}
	for _, x := range []struct {
		to        *int
		attribute cu.DeviceAttribute
	}{
		{&i.Capability[0], cu.ComputeCapabilityMajor},
		{&i.Capability[1], cu.ComputeCapabilityMinor},
		{&i.Multiprocessors, cu.MultiprocessorCount},
		{&i.SharedOfBlock, maxSharedOptin},
	} {
		if *x.to, err = device.Attribute(x.attribute); err != nil {
			return i, err
		}
	}
	return i, nil
}
