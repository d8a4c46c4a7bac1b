// Package experiment says what a comparison compares: variants, which are modes with
// settings of their own, under settings that they share, and how long each trains.
//
// Start at [Options]. Variants come from flags (variants.go) or from a file (file.go).
// [Options.Runs] resolves them to runs (resolve.go) under a [Budget].
package experiment
