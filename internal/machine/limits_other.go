//go:build !linux

package machine

// AddressSpace returns false: no limit is known.
func AddressSpace() (limit, left int64, limited bool) { return 0, 0, false }
