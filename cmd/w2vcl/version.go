package main

import (
	"runtime/debug"

	"github.com/spf13/cobra"
)

func newVersion(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of w2vcl",
		Args:  exactly(),
		RunE: func(*cobra.Command, []string) error {
			var out table
			out.rowf("w2vcl %s", version())
			return out.writeTo(s.out)
		},
	}
}

// version returns the module's version, and the commit where Go recorded one.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	text := info.Main.Version
	if text == "" || text == "(devel)" {
		text = "development version"
		if revision := buildSetting(info, "vcs.revision"); len(revision) >= 12 {
			text += " " + revision[:12]
			if buildSetting(info, "vcs.modified") == "true" {
				text += " with changes"
			}
		}
	}
	return text
}

func buildSetting(info *debug.BuildInfo, key string) string {
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}
