package trainer

import "context"

// Series is the ability to train several units in one call, for trainers that
// lose time between two calls.
type Series interface {
	// SeriesLength returns how many units to train in the next call, at least 1.
	SeriesLength() int

	// AdvanceSeries is Advance for the units first, first+1, ..., one for each
	// of the rates, and returns their reports.
	AdvanceSeries(ctx context.Context, first int, rates []float64) ([]Report, error)
}

// SeriesLength returns how many units a trainer takes in one call, at least 1.
func SeriesLength(t Trainer) int {
	if series, ok := t.(Series); ok {
		return series.SeriesLength()
	}
	return 1
}

// Advance trains the units first, first+1, ..., one for each of the learning
// rates, and returns their reports. There are at most SeriesLength rates.
func Advance(ctx context.Context, t Trainer, first int, rates []float64) ([]Report, error) {
	if series, ok := t.(Series); ok {
		return series.AdvanceSeries(ctx, first, rates)
	}
	report, err := t.Advance(ctx, first, rates[0])
	return []Report{report}, err
}

// AdvanceOne trains one unit as a series: it is Advance of a trainer that has series.
func AdvanceOne(ctx context.Context, t Series, unit int, rate float64) (Report, error) {
	reports, err := t.AdvanceSeries(ctx, unit, []float64{rate})
	if err != nil {
		return Report{}, err
	}
	return reports[0], nil
}

// Pausing is a trainer that can stop and be saved after some of its units only.
type Pausing interface {
	// PausesAfter reports whether it can after so many units.
	PausesAfter(units int) bool
}

// PausesAfter reports whether a trainer can stop and be saved after so many units.
func PausesAfter(t Trainer, units int) bool {
	p, ok := t.(Pausing)
	return !ok || p.PausesAfter(units)
}

// OnDevice is a trainer whose tables are in the memory of a device. Its Tables
// and State are copies on the host, which Pull fills.
type OnDevice interface {
	// Pull brings the values of Tables to the host, and with everything set those
	// of State, too.
	Pull(everything bool) error

	// Push tells the trainer that State was written to: training goes on from
	// there.
	Push()

	// Device returns the device's name, and the most of its memory, in bytes,
	// that was in use.
	Device() (name string, peak int64)
}

// Pull brings the values of Tables to the host, and with everything set those of
// State, too, if the trainer has them on a device.
func Pull(t Trainer, everything bool) error {
	if d, ok := t.(OnDevice); ok {
		return d.Pull(everything)
	}
	return nil
}

// Push tells the trainer that its State was written to.
func Push(t Trainer) {
	if d, ok := t.(OnDevice); ok {
		d.Push()
	}
}

// Device returns the name of the device that a trainer uses and the most of its
// memory that was in use, in bytes; "" and 0 for the CPU.
func Device(t Trainer) (name string, peak int64) {
	if d, ok := t.(OnDevice); ok {
		return d.Device()
	}
	return "", 0
}

// Preparing is a trainer that has work to do before its first unit.
type Preparing interface {
	// Ready does that work. Advance does it if nobody called Ready.
	Ready() error
}

// Ready lets a trainer do what is to be done before training.
func Ready(t Trainer) error {
	if p, ok := t.(Preparing); ok {
		return p.Ready()
	}
	return nil
}

// Composing is a trainer whose word table follows from the parameters of an
// encoder.
type Composing interface {
	// Refresh brings the word table up to date with the parameters.
	Refresh() error
}

// Refresh brings the word table up to date, if it follows from an encoder.
func Refresh(t Trainer) error {
	if c, ok := t.(Composing); ok {
		return c.Refresh()
	}
	return nil
}

// Drawable is a trainer whose step is a Gorgonia graph.
type Drawable interface {
	// DOT returns the graph in the Graphviz language.
	DOT() string
}

// DOT returns the Gorgonia graph of a trainer in the Graphviz language, or "".
func DOT(t Trainer) string {
	if d, ok := t.(Drawable); ok {
		return d.DOT()
	}
	return ""
}
