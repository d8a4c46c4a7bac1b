package optim

// A Schedule is a learning rate that goes in a straight line from Start, at
// the first unit of training, to End, after the last.
type Schedule struct{ Start, End float64 }

// Rate returns the learning rate of unit number unit, of units in all.
func (s Schedule) Rate(unit, units int) float64 {
	if units < 1 {
		return s.Start
	}
	return s.Start + (s.End-s.Start)*float64(unit)/float64(units)
}
