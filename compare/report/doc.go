// Package report draws charts and tables for two kinds of readers. A page of HTML has
// charts as SVG in the colours of its style sheet, light and dark, and loads nothing:
// no fonts, no network. A paper has figures as SVG in colours of their own, and
// tables for LaTeX and as CSV.
//
// Start at [LineChart], which draws shapes (svg.go) between axes (axis.go);
// [WriteSVG] writes a chart as a figure. [Table] writes the
// tables, and [Page] wraps the body of a page.
package report
