// Package terminal serves the person at the command line: it writes numbers in a
// short form, catches signals, measures distances for "did you mean" and marks errors
// of usage.
package terminal
