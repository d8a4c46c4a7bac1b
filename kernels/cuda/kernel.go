//go:build gpu

package cuda

import (
	"embed"
	"fmt"
	"io"
	"unsafe"

	"github.com/klauspost/compress/gzip"
	"gorgonia.org/cu"
)

// built has what build.sh compiled: nothing, where it was not run.
//
//go:embed all:built
var built embed.FS

// HasKernels reports whether this program was built with kernels: with machine code, which all sources but few have, or PTX.
func HasKernels() bool {
	files, err := built.ReadDir("built")
	return err == nil && len(files) > 1 // one keeps the folder in git
}

// A Grid is the shape of a launch.
type Grid struct {
	Blocks  int // thread blocks
	Threads int // of a thread block
	Shared  int // bytes of shared memory of a thread block
}

// Function returns a kernel by the name of its source, such as cl/step for cl/step.cu, and its own.
func (d *Device) Function(source, name string) (cu.Function, error) {
	m, err := d.module(source)
	if err != nil {
		return cu.Function{}, err
	}
	f, err := m.Function(name)
	if err != nil {
		return f, fmt.Errorf("kernel %s of %s.cu: %w", name, source, err)
	}
	return f, nil
}

// Constant returns a constant of a source.
func Constant[T any](d *Device, source, name string) (x T, err error) {
	m, err := d.module(source)
	if err != nil {
		return x, err
	}
	from, bytes, err := m.Global(name)
	if err == nil && bytes != Bytes[T](1) {
		err = fmt.Errorf("it has %d bytes", bytes)
	}
	if err != nil {
		return x, fmt.Errorf("constant %s of %s.cu: %w", name, source, err)
	}
	to := []T{x}
	err = Receive(to, from)
	return to[0], err
}

// module returns the kernels of a source. The device gets machine code if there is some for it.
func (d *Device) module(source string) (cu.Module, error) {
	if m, ok := d.modules[source]; ok {
		return m, nil
	}
	file := source + ".ptx.gz"
	if d.MachineCode() {
		file = source + ".cubin.gz"
	}
	image, err := Image(file)
	if err != nil {
		return cu.Module{}, err
	}
	m, err := cu.LoadData(string(image))
	if err != nil {
		return m, fmt.Errorf("load %s: %w", file, err)
	}
	d.modules[source] = m
	return m, nil
}

// Image returns what a compressed file of built/ holds.
func Image(file string) ([]byte, error) {
	f, err := built.Open("built/" + file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	image, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return image, nil
}

// LaunchValues starts a kernel on the device's stream. Each of its arguments is a pointer to
// the device's memory or a uint64.
func (d *Device) LaunchValues(f cu.Function, g Grid, values ...uint64) error {
	return LaunchValuesOn(d.stream, f, g, values...)
}

// LaunchValuesOn is LaunchValues on another stream.
func LaunchValuesOn(s cu.Stream, f cu.Function, g Grid, values ...uint64) error {
	pointers := make([]unsafe.Pointer, len(values))
	for i := range values {
		pointers[i] = unsafe.Pointer(&values[i])
	}
	return f.Launch(g.Blocks, 1, 1, g.Threads, 1, 1, g.Shared, s, pointers)
}
