package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestRelease: the version is the same wherever it stands. Python reads it from CITATION.cff.
func TestRelease(t *testing.T) {
	for file, pattern := range map[string]string{
		"CITATION.cff":                    `(?m)^version: (.*)$`,
		"CHANGELOG.md":                    `(?m)^## \[(.*?)\]`,
		".ci/packaging/conda/recipe.yaml": `(?m)^  version: "(.*)"$`,
		".ci/packaging/homebrew/w2vcl.rb": `/v([\d.]+)\.tar\.gz`,
	} {
		text, err := os.ReadFile(filepath.Join("..", "..", "..", file))
		if err != nil {
			t.Fatal(err)
		}
		if found := regexp.MustCompile(pattern).FindSubmatch(text); found == nil || string(found[1]) != release {
			t.Errorf("%s has the version %q, want %s", file, found, release)
		}
	}
}
