package cli

import "runtime/debug"

// release is the version that this source is, or will be when it is tagged. A test compares it with the packages'.
const release = "0.1.0"

// Version returns the release, and the commit where Go recorded one and it is not the release's.
func Version() string {
	text := release
	info, ok := debug.ReadBuildInfo()
	if ok && info.Main.Version != "v"+release {
		if revision := BuildSetting(info, "vcs.revision"); len(revision) >= 12 {
			text += " " + revision[:12]
			if BuildSetting(info, "vcs.modified") == "true" {
				text += " with changes"
			}
		}
	}
	return text
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
