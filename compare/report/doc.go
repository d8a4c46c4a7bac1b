// Package report draws charts as SVG and puts pages together that need nothing
// but themselves: no scripts, no fonts, no network. Colours come from classes
// (s0, s1, ...) that the page's style sheet gives a light and a dark form, so
// one file serves both.
//
// Start at [LineChart]; [BoxChart] and [BarChart] share its axes (axis.go).
// [Page] wraps the body of a page.
package report
