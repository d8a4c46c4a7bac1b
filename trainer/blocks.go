package trainer

import "context"

// Blocks is a trainer that is faster when it is given many units at a time: one
// on a device. Its Tables and State are copies on the host, which Pull fills.
type Blocks interface {
	// Block returns how many units to train at a time from now on, at least 1.
	Block() int

	// AdvanceBlock is Advance for the units first, first+1, ..., one for each of
	// the rates, and returns their reports.
	AdvanceBlock(ctx context.Context, first int, rates []float64) ([]Report, error)

	// Pull brings to the host what Tables returns, and with everything set all
	// that State does.
	Pull(everything bool) error

	// Push says that State was written to: training goes on from that.
	Push()

	// Device returns the device's name, and the most of its memory, in bytes,
	// that was in use.
	Device() (name string, peak int64)
}
