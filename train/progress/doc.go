// Package progress shows the person at the terminal how far the work has come.
//
// Start at [Progress]. The functions that take one, such as train.Run, are silent
// with nil.
package progress
