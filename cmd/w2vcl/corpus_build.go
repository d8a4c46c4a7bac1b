package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/w2vcl/w2vcl/cmd/internal/cli"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/train"
	"github.com/w2vcl/w2vcl/train/settings"
)

type corpusBuildOptions struct {
	settings    cli.SettingFlags
	json, quiet bool
}

func newCorpusBuild(s cli.Streams) *cobra.Command {
	var o corpusBuildOptions
	cmd := &cobra.Command{
		Use:   "build --corpus PATH --cache DIR [flags]",
		Short: "Read a text once and keep it encoded in a folder",
		Long: `Read a text and write it, encoded, to a file in the folder DIR. A run with the same text,
the same settings of section Text and --cache DIR then starts without reading. An existing
file stays as it is. Standard input and pipes are refused, because a later run recognises the
text by its file. Counts that exceed a limit of memory go to the disk meanwhile, so any number
of different words is counted exactly.`,
		Example: `  w2vcl corpus build --corpus wiki.txt --cache encoded
  w2vcl train --corpus wiki.txt --cache encoded --mode pword2vec --out runs/wiki`,
		Args: cli.OneCorpus,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), s) },
	}
	o.settings.AddTo(cmd, isTextSetting)
	cli.AddJSON(cmd, &o.json, "print one line of JSON")
	cmd.Flags().BoolVar(&o.quiet, "quiet", false, "print no progress")
	return cmd
}

func isTextSetting(setting settings.Setting) bool {
	switch setting.Name {
	case "corpus", "threads", "max-memory":
		return true
	default:
		return setting.Section == settings.SectionText
	}
}

func (o *corpusBuildOptions) run(ctx context.Context, s cli.Streams) error {
	config, err := settings.Resolve(o.settings.File, o.settings.Set)
	if err != nil {
		return err
	}
	if config.Cache == "" {
		return terminal.Usagef("--cache is missing: name the folder to write to")
	}
	text, err := train.ReadText(ctx, config, nil, s.Progress(o.quiet))
	if err != nil {
		return err
	}
	defer func() { _ = text.Close() }() // it was only read
	return showCorpus(s, text, o.json)
}
