// Package runfolder is all that a run leaves behind: the run folder and the states
// it goes through, the checkpoint, the metrics and the summary.
//
// Start at [Open] to read a run, also one that is still going; eval, neighbors,
// compare and --init all do. Start at [Create] to write one: the comment on its
// states in folder.go says what a name means at any moment.
package runfolder
