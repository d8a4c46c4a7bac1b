// Package terminal holds what the command line shows to a person and hears from
// one: progress, numbers in a short form, signals, "did you mean" suggestions,
// and errors of usage.
//
// Start at [Progress]. Everything it shows goes to standard error; results are
// the commands' own matter.
package terminal
