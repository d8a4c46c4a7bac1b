// Package compare trains several modes on one text under one budget, looks at
// their quality along the way, and says what came of it.
//
// Start at [Options], which become a list of runs (options.go). [Execute] trains
// those that are not finished yet and keeps a [Record] of each (execute.go,
// record.go). [Summarize] turns records into a [Result] (result.go), which is
// written as a page, JSON and CSV (page.go, files.go). There is no training
// here: that is package train's.
package compare
