package optim

// A Schedule is a learning rate that goes in a straight line from Start, at
// the first unit of training, to End, after the last.
type Schedule struct {
	Start, End float64

	// Steps, if not 0, is how many equal parts training has: the rate of a part is that
	// of its first unit. With a part for each epoch it is the learning rate of
	// PAR-Word2Vec on a GPU (algorithm 5): after each of E epochs it falls by Start/E.
	Steps int
}

// Rate returns the learning rate of unit number unit, of units in all.
func (s Schedule) Rate(unit, units int) float64 {
	if units < 1 {
		return s.Start
	}
	if s.Steps > 0 {
		unit, units = int(int64(unit)*int64(s.Steps)/int64(units)), s.Steps
	}
	return s.Start + (s.End-s.Start)*float64(unit)/float64(units)
}
