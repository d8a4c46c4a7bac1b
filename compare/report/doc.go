// Package report draws charts as SVG and makes HTML pages that load nothing: no
// scripts, no fonts, no network. A chart names its colours by classes (s0, s1,
// ...). The style sheet of the page gives each class a light and a dark colour, so
// that one file serves both.
//
// Start at [LineChart]; [BoxChart] and [BarChart] share its axes (axis.go).
// [Page] wraps the body of a page.
package report
