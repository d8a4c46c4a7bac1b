package rules

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// streamsFile is the only file that may define a stream, as a path from the root of
// the module.
const streamsFile = "corpus/random.go"

// listedStreams returns the numbers of the streams: the high 32 bits of their values. The low 32 bits are Sub's.
func listedStreams(t *testing.T) map[string]string {
	t.Helper()
	list := read(t, filepath.Join(root, streamsFile))
	streams := map[string]string{}
	for _, match := range regexp.MustCompile(`(?m)^\tStream(\w+) +Stream = ([1-9]\d*) << 32 `).FindAllStringSubmatch(list, -1) {
		streams[match[1]] = match[2]
	}
	if all := regexp.MustCompile(`\bStream = `).FindAllString(list, -1); len(streams) < 12 || len(streams) != len(all) {
		t.Errorf("%s lists %d streams, %d of them as number << 32", streamsFile, len(all), len(streams))
	}
	return streams
}

// TestStreamNumbers: every stream of the list has its own number.
func TestStreamNumbers(t *testing.T) {
	users := map[string]string{}
	for name, number := range listedStreams(t) {
		if other, taken := users[number]; taken {
			t.Errorf("%s and %s have the number %s", name, other, number)
		}
		users[number] = name
	}
}

// TestStreamsOfKernels: the CUDA sources give streams the numbers of the list.
func TestStreamsOfKernels(t *testing.T) {
	streams, found := listedStreams(t), 0
	defined := regexp.MustCompile(`\bstream([A-Z]\w*) = (\d+)`)
	for _, name := range files(t, ".cu", ".cuh") {
		for _, match := range defined.FindAllStringSubmatch(read(t, filepath.Join(root, name)), -1) {
			if found++; streams[match[1]] != match[2] {
				t.Errorf("%s gives stream %s the number %s, %s gives it %s", name, match[1], match[2], streamsFile, streams[match[1]])
			}
		}
	}
	if found == 0 {
		t.Error("no CUDA source names a stream")
	}
}

// TestStreamsHaveOneHome: no other file makes a stream, be it a constant, a variable, a conversion or a shifted number as
// Philox's argument. Tests of package corpus may.
func TestStreamsHaveOneHome(t *testing.T) {
	makes := regexp.MustCompile(`\bcorpus\.Stream( = |\()|Philox\(.*\b\d+ ?<< ?32\S*,`)
	here := regexp.MustCompile(`\bStream( = |\(\d)`)
	for _, path := range files(t, ".go") {
		name, source := filepath.ToSlash(path), read(t, filepath.Join(root, path))
		if name == streamsFile || strings.HasPrefix(name, "corpus/") && strings.HasSuffix(name, "_test.go") {
			continue
		}
		made := makes.FindString(source)
		if strings.HasPrefix(name, "corpus/") {
			made += here.FindString(source)
		}
		if made != "" {
			t.Errorf("%s makes a stream, %q; the home of streams is %s", name, made, streamsFile)
		}
	}
}
