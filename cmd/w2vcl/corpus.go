package main

import (
	"github.com/spf13/cobra"

	"github.com/w2vcl/w2vcl/cmd/internal/cli"
)

func newCorpus(s cli.Streams) *cobra.Command {
	return cli.NewGroup("corpus", "Encode a text as a file of word numbers, or describe it",
		`Training reads a text larger than memory from a file. The file has two bytes a word if the
vocabulary has at most 65,536 words, otherwise three or four. 'w2vcl train --cache DIR' makes
the file, or uses the existing one while text and settings are the same.`,
		newCorpusBuild(s), newCorpusInfo(s), newCorpusStats(s))
}
