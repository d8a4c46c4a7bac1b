//go:build !linux

package machine

import "runtime"

// Processors returns how many processors the host has.
func Processors() int { return runtime.NumCPU() }
