package bench

import "github.com/w2vcl/w2vcl/optim"

// StepBytes counts the memory traffic of one of the two steps of an iteration,
// as if nothing of a table stayed in a cache from one row to another:
//
//	V rows of N float32 for each of the 1+K gathered rows,
//	read and write of the row itself and of its moments
//
// which is 12 passes over V x N x 4 bytes for K = 5 and Adam (6 gathered, and
// w, m, v read and written), 10 and a value a row for adam-row, 8 for SGD.
// What M, the negatives and the loss take is not counted.
func StepBytes(words, dim, negatives int, method optim.Method) (int64, error) {
	update, err := UpdateBytes(words, dim, method)
	return 4*int64(words)*int64(dim)*int64(1+negatives) + update, err
}

// UpdateBytes is the part of StepBytes that no cache can save, if the tables are
// larger: read and write of every row and of its moments.
func UpdateBytes(words, dim int, method optim.Method) (int64, error) {
	d, err := optim.Find(method)
	if err != nil {
		return 0, err
	}
	return 2 * (4*int64(words)*int64(dim) + d.Bytes(words, dim)), nil
}

// WorkingSet is the memory that an iteration touches: both tables and their
// optimizers' moments.
func WorkingSet(words, dim int, method optim.Method) int64 {
	return 2 * (4*int64(words)*int64(dim) + optim.Config{Method: method}.Bytes(words, dim))
}
