package runfolder

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Names returns the names that a run folder may have while a run is made or resumed:
// OUT, OUT.partial and OUT.replaced. out is OUT or OUT.partial.
func Names(out string) []string {
	out = strings.TrimSuffix(filepath.Clean(out), partialSuffix)
	return []string{out, out + partialSuffix, out + replacedSuffix}
}

// IsRun reports whether a folder is that of a run, whole or in the making.
func IsRun(dir string) bool {
	has := func(name string) bool { return exists(filepath.Join(dir, name)) }
	return has(ConfigFile) && (strings.HasSuffix(dir, partialSuffix) ||
		slices.ContainsFunc([]string{SummaryFile, VocabularyFile, VectorsFile, MetricsFile}, has))
}

// ResumedConfig returns the path of the settings of the run that [Reopen] would find.
func ResumedConfig(name string) string {
	names := Names(name)
	for _, dir := range []string{names[1], names[0]} {
		if path := filepath.Join(dir, ConfigFile); exists(path) {
			return path
		}
	}
	return ""
}

// ErrLost says that a run folder in the making was removed or moved away.
var ErrLost = errors.New("was removed or moved away")

// Lost returns an error, [ErrLost], unless the folder is the one that was locked. A process that looks
// before it writes leaves what somebody else put there alone.
func (f *Folder) Lost() error {
	if f.found == nil {
		return nil
	}
	now, err := os.Stat(f.Dir)
	if err != nil || !os.SameFile(f.found, now) {
		return fmt.Errorf("%s %w", f.Dir, ErrLost)
	}
	return nil
}
