package cli

import (
	"runtime/debug"
	"strings"
)

// Version returns the module's version, and the commit where Go recorded one.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	text := info.Main.Version
	if text == "" || text == "(devel)" {
		text = "development version"
		if revision := BuildSetting(info, "vcs.revision"); len(revision) >= 12 {
			text += " " + revision[:12]
			if BuildSetting(info, "vcs.modified") == "true" {
				text += " with changes"
			}
		}
	}
	return text
}

// IsExact reports whether a version tells the sources that the program was built from: a release, or a commit without
// changes.
func IsExact(version string) bool {
	return strings.HasPrefix(version, "v") && !strings.Contains(version, "+dirty")
}

// BuildSetting returns what the build recorded by a name; "" if nothing.
func BuildSetting(info *debug.BuildInfo, key string) string {
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}
