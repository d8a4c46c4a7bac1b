package main

import (
	"github.com/w2vcl/w2vcl/cmd/internal/cli"
)

import "github.com/spf13/cobra"

func newCorpus(s cli.Streams) *cobra.Command {
	return cli.NewGroup("corpus", "Encode a text as a file of word numbers, or show what it is like",
		`A text that is larger than memory is trained on from a file: two bytes a word where the
vocabulary has at most 65,536 words, three or four otherwise. 'w2vcl train --cache DIR' makes
it, or takes the one that is there while text and settings are the same.`, "",
		newCorpusBuild(s), newCorpusInfo(s), newCorpusStats(s))
}
