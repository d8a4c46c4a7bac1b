package main

import (
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/w2vcl/w2vcl/bench"
	"github.com/w2vcl/w2vcl/cmd/internal/cli"
	"github.com/w2vcl/w2vcl/internal/atomicfile"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/settings"
)

// newGenerate is for measurements of large texts; it is not shown.
func newGenerate(s cli.Streams) *cobra.Command {
	var (
		g     bench.Generated
		out   string
		size  string
		quiet bool
	)
	cmd := &cobra.Command{
		Use:   "generate --out FILE [flags]",
		Short: "Write a random text of any size",
		Long: `Write a random text whose words follow the law of Zipf and Mandelbrot and whose vocabulary
grows without an end, for measurements of texts that are larger than memory.`,
		Example: `  w2vcl-bench generate --bytes 10GB --out large.txt
  w2vcl-bench generate --bytes 1GB --different 50000000 --out different.txt`,
		Args: cli.Exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			parsed, err := settings.ParseSize(size)
			if err == nil {
				g.Bytes, err = parsed.Bytes(0)
			}
			switch {
			case err != nil || g.Bytes < 1:
				return terminal.Usagef("--bytes %s: must be a size, as 10GB", size)
			case out == "":
				return terminal.Usagef("--out is missing: name the file to write")
			case g.Different < 0:
				return terminal.Usagef("--different %d: must not be negative", g.Different)
			}
			stage := s.Progress(quiet).Stage("writing text", g.Bytes)
			defer stage.Stop()
			if err := atomicfile.Write(out, func(w io.Writer) error {
				return g.WriteTo(cmd.Context(), w, runtime.GOMAXPROCS(0), func(done, _ int64) { stage.Update(done, nil) })
			}); err != nil {
				return fmt.Errorf("--out: %w", err)
			}
			stage.Done("Wrote %s to %s", terminal.Bytes(g.Bytes), out)
			return nil
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&size, "bytes", "1GB", "`SIZE` of the text")
	flags.Int64Var(&g.Different, "different", 0, "`N` different words that come equally often, in place of Zipf's law")
	flags.Uint64Var(&g.Seed, "seed", 1, "`N` from which all randomness comes")
	flags.StringVar(&out, "out", "", "write the text to `FILE`")
	flags.Bool("force", false, "replace FILE if it is a text")
	flags.BoolVar(&quiet, "quiet", false, "print no progress")
	return cmd
}
