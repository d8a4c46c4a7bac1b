package main

import (
	"github.com/w2vcl/w2vcl/cmd/internal/cli"
	"github.com/w2vcl/w2vcl/testdata"
	"github.com/w2vcl/w2vcl/train"
	"github.com/w2vcl/w2vcl/train/runfolder"
)

// builtinText returns the options of a run on a corpus. The text that comes with
// w2vcl is not a file; runs on it record its name.
func builtinText(corpus string) train.Options {
	if corpus == testdata.CorpusName {
		return train.Options{Source: testdata.Corpus()}
	}
	return train.Options{}
}

// noteUnfinished tells that the vectors at a path are those of a run that is not
// finished, and how far it has come.
func noteUnfinished(s cli.Streams, path string) {
	if note := runfolder.Unfinished(path); note != "" {
		s.Notef("Note: %s; these are the vectors of its last checkpoint", note)
	}
}
