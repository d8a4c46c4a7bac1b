package wordcontext

// StepColumn returns the column of M whose entries are the positives of a step
// of W2V-CL: step 0 of iteration j, which trains the words, uses column j, step
// 1, which trains the contexts, column j + l/2, both modulo l. So an epoch of l
// iterations shows every column once to either table.
func (m *Matrix) StepColumn(iteration, step int) int {
	l := m.Contexts()
	return (iteration + step*l/2) % l
}

// Bytes is the memory of M: the stored contexts, in 16 bits where ids fit, and
// three numbers a row.
func (m *Matrix) Bytes() int64 {
	return 2*int64(len(m.narrow)) + 4*int64(len(m.wide)) + 3*8*int64(m.Rows())
}
