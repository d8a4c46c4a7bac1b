// Package compare trains several modes on one text under one budget, scores every
// run several times on its way, and reports quality, time, memory and losses.
// Package train does the training.
//
// Package experiment says what is compared. Start at [Execute]: it trains the runs that are not
// finished, and keeps a [Record] of each (execute.go,
// record.go); a judge scores them all alike (judge.go). [Summarize] turns the records into a
// [Result] (result.go, chance.go, sweeps.go), which is written as a page, as JSON and as CSV
// (page.go, charts.go, files.go).
package compare
