// Package rules has no code, only tests of the project as a whole: that packages
// import what the table of docs/architecture.md says, that levels and sizes hold,
// and that documents and comments name files that exist.
package rules
