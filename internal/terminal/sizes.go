package terminal

import "strings"

// Sizes are bytes for several purposes.
type Sizes []struct {
	Name  string
	Bytes int64
}

// Sum returns the sum of the bytes.
func (s Sizes) Sum() (sum int64) {
	for _, part := range s {
		sum += part.Bytes
	}
	return sum
}

// String lists those that are not zero.
func (s Sizes) String() string {
	var parts []string
	for _, part := range s {
		if part.Bytes > 0 {
			parts = append(parts, part.Name+" "+Bytes(part.Bytes))
		}
	}
	return strings.Join(parts, ", ")
}
