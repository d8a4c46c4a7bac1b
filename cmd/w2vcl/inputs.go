package main

import (
	"fmt"

	"github.com/w2vcl/w2vcl/cmd/internal/cli"
	"github.com/w2vcl/w2vcl/subword"
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

// An askedWord is a word and, if the text lacks it, what its vector is from.
type askedWord struct {
	Word string `json:"word"`
	subword.Origin
}

// unseen returns the words that the text lacks, each once.
func unseen(found []runfolder.WordVector) (words []askedWord) {
	met := map[string]bool{}
	for _, w := range found {
		if w.Composed() && !met[w.Word] {
			words = append(words, askedWord{w.Word, w.Origin})
		}
		met[w.Word] = true
	}
	return words
}

// noteUnseen says what the vectors of words that the text lacks are from.
func noteUnseen(s cli.Streams, found []runfolder.WordVector) {
	for _, u := range unseen(found) {
		s.Notef("%s%s", u.Word, notInText(u.Origin))
	}
}

// notInText says of an unseen word that it is one, and what its vector is from; of others nothing.
func notInText(o subword.Origin) string {
	if o.Source == "" {
		return ""
	}
	return fmt.Sprintf("  (not in the text; %s)", o)
}
