package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/w2vcl/w2vcl/cmd/internal/cli"
)

func newMan(s cli.Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "man FOLDER",
		Short: "Write manual pages",
		Long: `Write a manual page of each command into FOLDER, which is made if it does not exist.
'man w2vcl-train' finds the pages if FOLDER is the folder man1 of a path in MANPATH.`,
		Example: `  w2vcl man ~/.local/share/man/man1`,
		Args:    cli.Exactly("FOLDER"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return fmt.Errorf("cannot write manual pages: %w", err)
			}
			header := &doc.GenManHeader{Section: "1", Source: "w2vcl " + cli.Version(), Manual: "w2vcl"}
			if err := doc.GenManTree(cmd.Root(), header, args[0]); err != nil {
				return fmt.Errorf("cannot write manual pages: %w", err)
			}
			pages, err := filepath.Glob(filepath.Join(args[0], "w2vcl*.1"))
			s.Notef("Wrote %d pages to %s", len(pages), args[0])
			return err
		},
	}
}
