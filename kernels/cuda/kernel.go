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

// A Grid is the shape of a launch.
type Grid struct {
	Blocks  int // thread blocks
	Threads int // of a thread block
	Shared  int // bytes of shared memory of a thread block
}

// Function returns a kernel by the name of its source, without .cu, and its own. built is
// the folder built/ that the caller's package embeds. The device gets machine code if there
// is some for it.
func (d *Device) Function(built embed.FS, source, name string) (cu.Function, error) {
	m, ok := d.modules[module{built, source}]
	if !ok {
		file := "built/" + source + ".ptx.gz"
		if d.MachineCode() {
			file = "built/" + source + ".cubin.gz"
		}
		image, err := Image(built, file)
		if err != nil {
			return cu.Function{}, err
		}
		if m, err = cu.LoadData(string(image)); err != nil {
			return cu.Function{}, fmt.Errorf("load %s: %w", file, err)
		}
		d.modules[module{built, source}] = m
	}
	f, err := m.Function(name)
	if err != nil {
		return f, fmt.Errorf("kernel %s of %s.cu: %w", name, source, err)
	}
	return f, nil
}

// Image returns what a compressed file of built/ holds.
func Image(built embed.FS, file string) ([]byte, error) {
	f, err := built.Open(file)
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
