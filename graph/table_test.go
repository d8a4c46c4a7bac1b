package graph

import "github.com/w2vcl/w2vcl/internal/team"

// newTables returns W and C at the start of training; see Model.Reset.
func newTables(rows int, c Options) (words, contexts *table, err error) {
	m, err := newModel(rows, "", 0, team.New(1), c)
	if err != nil {
		return nil, nil, err
	}
	start(m.words, m.contexts, c)
	return m.words, m.contexts, nil
}
