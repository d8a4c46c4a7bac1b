package bench

import "github.com/w2vcl/w2vcl/optim"

// StepBytes counts the memory traffic of one step of W2V-CL, as if a cache kept
// nothing of a table from one row to the next:
//
//	V rows of N float32 for each of the 1+K gathered rows,
//	read and write of the row itself and of its optimizer's state
//
// That is 12 passes over V x N x 4 bytes for K = 5 and Adam: 6 for gathered rows,
// and w, m and v read and written. M, the negatives and the loss are not counted.
func StepBytes(vocabulary, dim, negatives int, method optim.Method) (int64, error) {
	v := float64(vocabulary)
	return stepBytes(amount{rows: v, samples: v}, dim, negatives, 0, method)
}

// stepBytes is StepBytes for an amount of samples: rows without one are not touched,
// and the rows of shared negatives are gathered once.
func stepBytes(a amount, dim, negatives, shared int, method optim.Method) (int64, error) {
	update, err := UpdateBytes(int(a.rows), dim, method)
	return int64(4*float64(dim)*a.gathered(negatives, shared)) + update, err
}

// UpdateBytes is the part of StepBytes that no cache saves if the tables are larger
// than it: read and write of every row and of its optimizer's state.
func UpdateBytes(vocabulary, dim int, method optim.Method) (int64, error) {
	if _, err := optim.Find(method); err != nil {
		return 0, err
	}
	return WorkingSet(vocabulary, dim, method), nil
}

// WorkingSet is the memory in bytes that an iteration touches: both tables and the
// state of their optimizers.
func WorkingSet(vocabulary, dim int, method optim.Method) int64 {
	return 2 * (4*int64(vocabulary)*int64(dim) + optim.Options{Method: method}.Bytes(vocabulary, dim))
}
