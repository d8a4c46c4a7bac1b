package joint

// SetBlock makes the rows that are combined at a time so few, on this rank: all must do it.
func (t *Trainer) SetBlock(rows int) { t.blockRows = rows }
