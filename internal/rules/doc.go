// Package rules has only tests, of the project as a whole: packages
// import what the table of docs/architecture.md says, levels and sizes hold,
// and documents and comments name files that exist.
package rules
