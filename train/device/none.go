//go:build !gpu

package device

import "github.com/w2vcl/w2vcl/kernels/cuda/cl"

// Built reports whether the kernels are built in. It is a variable for tests.
var Built = false

func open(string) (Device, error) { return nil, ErrNotBuilt }

// List returns the devices of the machine and the version of CUDA that their
// driver has. Without the build tag gpu the error is ErrNotBuilt.
func List() (devices []Info, driver string, err error) { return nil, "", ErrNotBuilt }

// NCCL returns the library that GPUs of several ranks would use. Without the build tag gpu the error is ErrNotBuilt.
func NCCL() (NCCLLibrary, error) { return NCCLLibrary{}, ErrNotBuilt }

func memoryCBOW(cl.CBOWOptions) (device, host int64, err error) { return 0, 0, nil }
