// Package seeds says how far the vectors of several runs agree that differ only in
// their seed, and joins such runs to an ensemble.
//
// Start at Compare, which measures how many nearest neighbours of a word two runs
// share (overlap.go). SpreadOf does the same for scores. Ensemble rotates the runs onto
// each other and averages them (ensemble.go).
package seeds
