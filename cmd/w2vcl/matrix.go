package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/settings"
	"github.com/w2vcl/w2vcl/train"
	"github.com/w2vcl/w2vcl/wordcontext"
)

func newMatrix(s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "matrix",
		Short: "Build the word-context matrix M as a file, or look into one",
		Long: `The matrix M holds the context samples that W2V-CL trains on, one row for each
word. 'w2vcl train' builds it in memory; kept in a file it can serve many runs on
the same text: w2vcl train --matrix FILE.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return terminal.Usagef("matrix %s: no such command; there are build and info", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newMatrixBuild(s), newMatrixInfo(s))
	return cmd
}

type matrixBuildOptions struct {
	settings settingFlags
	quiet    bool
}

func newMatrixBuild(s streams) *cobra.Command {
	var o matrixBuildOptions
	cmd := &cobra.Command{
		Use:     "build --corpus PATH --matrix FILE [flags]",
		Short:   "Build M from a text",
		Long:    `Build M from a text and write it to a file. A file that holds it already is left as it is.`,
		Example: `  w2vcl matrix build --corpus wiki.txt --matrix wiki.matrix --contexts 65536`,
		Args:    exactly(),
		RunE:    func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), s) },
	}
	o.settings.addTo(cmd, func(setting settings.Setting) bool {
		switch setting.Name {
		case "preset", "corpus", "matrix", "force", "window", "dynamic-window", "sample", "passes", "contexts", "seed", "threads", "max-memory":
			return true
		default:
			return setting.Group == settings.GroupText
		}
	})
	cmd.Flags().Lookup("matrix").Usage = "write M to `FILE`"
	cmd.Flags().Lookup("force").Usage = "replace a file that holds another matrix"
	cmd.Flags().BoolVar(&o.quiet, "quiet", false, "print no progress")
	return cmd
}

func (o *matrixBuildOptions) run(ctx context.Context, s streams) error {
	o.settings.set["mode"] = settings.ModeCL // the mode that has a matrix
	config, err := o.settings.config()
	if err != nil {
		return err
	}
	ctx, restore := terminal.Interruptible(ctx, nil)
	defer restore()
	return train.BuildMatrix(ctx, config, s.progress(o.quiet))
}

func newMatrixInfo(s streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "info FILE",
		Short:   "Show what a matrix file holds",
		Example: `  w2vcl matrix info wiki.matrix`,
		Args:    exactly("FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			return matrixInfo(s, args[0], asJSON)
		},
	}
	addJSON(cmd, &asJSON, "print one line of JSON")
	return cmd
}

// A matrixSummary is what matrix info tells.
type matrixSummary struct {
	File          string  `json:"file"`
	Bytes         int64   `json:"bytes"`
	Rows          int     `json:"rows"`
	Contexts      int     `json:"contexts"` // columns
	Stored        uint64  `json:"stored"`   // contexts in the file; the others are repetitions of them
	Window        int     `json:"window"`
	DynamicWindow bool    `json:"dynamic_window"`
	Sample        float64 `json:"sample"`
	Passes        int     `json:"passes"`
	Seed          uint64  `json:"seed"`
	Corpus        string  `json:"corpus_fingerprint"`
}

func matrixInfo(s streams, path string, asJSON bool) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: there is no such file", path)
	}
	if err != nil {
		return fmt.Errorf("cannot read the matrix: %w", err)
	}
	m, err := wordcontext.Open(path)
	if err != nil {
		return err
	}
	o := m.Options()
	summary := matrixSummary{
		File: path, Bytes: info.Size(), Rows: m.Rows(), Contexts: m.Contexts(), Stored: m.Stored(),
		Window: o.Window, DynamicWindow: o.DynamicWindow, Sample: o.Sample, Passes: o.Passes, Seed: o.Seed,
		Corpus: fmt.Sprintf("%016x", m.Fingerprint()),
	}
	if err := m.Close(); err != nil {
		return err
	}
	if asJSON {
		return writeJSON(s.out, summary)
	}
	return summary.print(s)
}

func (m matrixSummary) print(s streams) error {
	kind := "fixed"
	if m.DynamicWindow {
		kind = "dynamic"
	}
	var out table
	out.rowf("rows\t%s words", terminal.Number(m.Rows))
	out.rowf("columns\t%s contexts of each", terminal.Number(m.Contexts))
	out.rowf("stored\t%s contexts, %s", terminal.Number(m.Stored), terminal.Bytes(m.Bytes))
	out.rowf("window\t%d, %s", m.Window, kind)
	out.rowf("sample\t%g, %d passes", m.Sample, m.Passes)
	out.rowf("seed\t%d", m.Seed)
	out.rowf("corpus\t%s", m.Corpus)
	return out.writeTo(s.out)
}
