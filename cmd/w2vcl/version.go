package main

import (
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/w2vcl/w2vcl/device"
	"github.com/w2vcl/w2vcl/kernels/simd"
)

// A build is what version --json prints.
type build struct {
	Version string   `json:"version"`
	Commit  string   `json:"commit,omitempty"`   // where Go recorded one
	Date    string   `json:"date,omitempty"`     // of the commit, RFC 3339
	Changed bool     `json:"modified,omitempty"` // since the commit
	Go      string   `json:"go"`
	System  string   `json:"system"`
	Tags    []string `json:"build_tags"`
	Kernels string   `json:"kernels"` // in use on this processor
	CUDA    bool     `json:"cuda"`    // kernels for GPUs are built in
}

func newVersion(s streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version of w2vcl, its commit and what is built in",
		Args:  exactly(),
		RunE: func(*cobra.Command, []string) error {
			b := thisBuild()
			if asJSON {
				return writeJSON(s.out, b)
			}
			return b.print(s)
		},
	}
	addJSON(cmd, &asJSON, "print one line of JSON")
	return cmd
}

func thisBuild() build {
	b := build{
		Version: version(), Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH,
		Tags: []string{}, Kernels: string(simd.Current()), CUDA: device.Built,
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		b.Commit, b.Date = buildSetting(info, "vcs.revision"), buildSetting(info, "vcs.time")
		b.Changed = buildSetting(info, "vcs.modified") == "true"
		if tags := buildSetting(info, "-tags"); tags != "" {
			b.Tags = strings.Split(tags, ",")
		}
	}
	return b
}

func (b build) print(s streams) error {
	var out table
	out.rowf("w2vcl %s", b.Version)
	if b.Commit != "" {
		day, _, _ := strings.Cut(b.Date, "T")
		changes := ""
		if b.Changed {
			changes = ", with changes"
		}
		out.rowf("commit\t%s of %s%s", b.Commit, day, changes)
	}
	out.rowf("Go\t%s, %s", b.Go, b.System)
	out.rowf("CPU kernels\t%s", b.Kernels)
	gpu := "no kernels in this build"
	if b.CUDA {
		gpu = "CUDA kernels built in"
	}
	out.rowf("GPU\t%s", gpu)
	return out.writeTo(s.out)
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
