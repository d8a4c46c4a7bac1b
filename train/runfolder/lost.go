package runfolder

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// ErrLost says that a run folder in the making was removed or moved away.
var ErrLost = errors.New("was removed or moved away")

// Lost returns an error, [ErrLost], unless the folder is the one that was locked and
// has the files of these names. A process that looks before and after it writes
// notices when its folder goes.
func (f *Folder) Lost(files ...string) error {
	if f.found == nil {
		return nil
	}
	now, err := os.Stat(f.Dir)
	if err != nil || !os.SameFile(f.found, now) {
		return fmt.Errorf("%s %w", f.Dir, ErrLost)
	}
	for _, name := range files {
		if !exists(f.Path(name)) {
			return fmt.Errorf("%s %w", f.Path(name), ErrLost)
		}
	}
	return nil
}

// Restore makes OUT.partial again if it was lost. Its files are to be written again.
// What somebody put in its place is an error, as for [Create].
func (f *Folder) Restore() error {
	if f.Lost() == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(f.out), 0o755); err != nil {
		return fmt.Errorf("cannot make it again: %w", err)
	}
	before := *f // its lock keeps the system from using the old folder's number again
	f.lock = nil
	if err := f.claim(false); err != nil {
		*f = before
		return fmt.Errorf("cannot make it again: %w", err)
	}
	before.unlock()
	return nil
}
