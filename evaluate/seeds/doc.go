// Package seeds compares runs that differ only in their seed, and joins them to an ensemble.
//
// Start at Compare. It measures how many nearest neighbours of a word two runs share
// (overlap.go). SpreadOf gives the spread of a score over the seeds. Ensemble joins the
// vectors of the runs side by side by their singular value decomposition (ensemble.go).
package seeds
