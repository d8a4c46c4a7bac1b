package main

import (
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/w2vcl/w2vcl/cmd/internal/cli"
	"github.com/w2vcl/w2vcl/kernels/simd"
	"github.com/w2vcl/w2vcl/train/device"
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

func newVersion(s cli.Streams) *cobra.Command {
	return newReport(s, "version", "Print the version of w2vcl, its commit and what is built in", thisBuild)
}

func thisBuild() build {
	b := build{
		Version: cli.Version(), Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH,
		Tags: []string{}, Kernels: string(simd.Current()), CUDA: device.Built,
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		b.Commit, b.Date = cli.BuildSetting(info, "vcs.revision"), cli.BuildSetting(info, "vcs.time")
		b.Changed = cli.BuildSetting(info, "vcs.modified") == "true"
		if tags := cli.BuildSetting(info, "-tags"); tags != "" {
			b.Tags = strings.Split(tags, ",")
		}
	}
	return b
}

func (b build) print(s cli.Streams) error {
	var out cli.Table
	out.Rowf("w2vcl %s", b.Version)
	if b.Commit != "" {
		day, _, _ := strings.Cut(b.Date, "T")
		changes := ""
		if b.Changed {
			changes = ", with changes"
		}
		out.Rowf("commit\t%s of %s%s", b.Commit, day, changes)
	}
	out.Rowf("Go\t%s, %s", b.Go, b.System)
	out.Rowf("CPU kernels\t%s", b.Kernels)
	gpu := "no kernels in this build"
	if b.CUDA {
		gpu = "CUDA kernels built in"
	}
	out.Rowf("GPU\t%s", gpu)
	return out.Print(s.Out)
}
