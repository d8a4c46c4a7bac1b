package graph

// newTables returns W and C at the start of training; see reset.
func newTables(rows int, c Options) (words, contexts *table, err error) {
	t, err := allocateTables(rows, c)
	if err == nil {
		start(t.words, t.contexts, c)
	}
	return t.words, t.contexts, err
}
