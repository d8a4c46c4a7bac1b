package sentence

import "github.com/w2vcl/w2vcl/kernels/composed"

// ComposedBytes estimates the device's memory of a composition, beside that of the mode.
func ComposedBytes(x *composed.Composition) int64 {
	row, words, parts := 4*int64((x.Dim+31)/32)*32, int64(x.Words()), int64(x.PartCount())
	tables := words + parts
	if x.Own != nil {
		tables += words
	}
	return tables*row + 8*int64(len(x.Symbols)) + 4*parts + 16*words
}
