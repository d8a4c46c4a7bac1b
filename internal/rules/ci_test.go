package rules

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestRaceSkips: the list of tests that the race detector need not watch names tests that there are. CI leaves them out by
// name in all packages, so no other test may have the name.
func TestRaceSkips(t *testing.T) {
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	packages := map[string][]string{} // by test
	for _, name := range files(t, ".go") {
		if !strings.HasSuffix(name, "_test.go") {
			continue
		}
		data := read(t, filepath.Join(root, name))
		for _, match := range declared.FindAllStringSubmatch(data, -1) {
			packages[match[1]] = append(packages[match[1]], filepath.ToSlash(filepath.Dir(name)))
		}
	}
	list := read(t, filepath.Join(root, ".ci", "race.skip"))
	listed := 0
	for line := range strings.Lines(list) {
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] == "#" {
			continue
		}
		if listed++; len(fields) < 2 || !slices.Equal(packages[fields[1]], fields[:1]) {
			t.Errorf(".ci/race.skip: %q: the test is in packages %v", strings.TrimSpace(line), packages[fields[min(1, len(fields)-1)]])
		}
	}
	if listed == 0 {
		t.Error(".ci/race.skip lists no test")
	}
}
