package graph

// newTables returns W and C at the start of training; see Model.Reset.
func newTables(rows int, c Options) (words, contexts *table, err error) {
	m, err := NewModel(rows, NoCounts, c)
	if err != nil {
		return nil, nil, err
	}
	return m.words, m.contexts, nil
}
