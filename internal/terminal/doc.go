// Package terminal serves the person at the command line: it shows progress, writes
// numbers in a short form, catches signals, measures distances for "did you mean"
// and marks errors of usage.
//
// Start at [Progress], which writes to standard error. The commands themselves
// write results.
package terminal
