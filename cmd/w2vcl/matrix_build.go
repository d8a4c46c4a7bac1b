package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/w2vcl/w2vcl/cmd/internal/cli"
	"github.com/w2vcl/w2vcl/train"
	"github.com/w2vcl/w2vcl/train/settings"
)

type matrixBuildOptions struct {
	settings cli.SettingFlags
	quiet    bool
}

func newMatrixBuild(s cli.Streams) *cobra.Command {
	var o matrixBuildOptions
	cmd := &cobra.Command{
		Use:   "build --corpus PATH --matrix FILE [flags]",
		Short: "Build M from a text",
		Long: `Build M from a text and write it to a file. A file that already holds this matrix
stays as it is.`,
		Example: `  w2vcl matrix build --corpus wiki.txt --matrix wiki.matrix --contexts 65536`,
		Args:    cli.OneCorpus,
		RunE:    func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), s) },
	}
	o.settings.AddTo(cmd, func(setting settings.Setting) bool {
		switch setting.Name {
		case "preset", "corpus", "matrix", "force", "window", "dynamic-window", "sample", "contexts", "seed", "threads", "max-memory":
			return true
		default:
			return setting.Section == settings.SectionText
		}
	})
	defaults := settings.Defaults(settings.ModeCL, "", "", settings.ModelSkipGram)
	cli.ShowDefaults(cmd, &defaults)
	cmd.Flags().Lookup("matrix").Usage = "write M to `FILE`"
	cmd.Flags().Lookup("force").Usage = "replace a file that holds another matrix"
	cmd.Flags().BoolVar(&o.quiet, "quiet", false, "print no progress")
	return cmd
}

func (o *matrixBuildOptions) run(ctx context.Context, s cli.Streams) error {
	o.settings.Set["mode"], o.settings.Set["model"] = settings.ModeCL, settings.ModelSkipGram // they have a matrix
	config, err := settings.Resolve(o.settings.File, o.settings.Set)
	if err != nil {
		return err
	}
	if err := alone("matrix build"); err != nil {
		return err
	}
	return train.BuildMatrix(ctx, config, s.Progress(o.quiet))
}
