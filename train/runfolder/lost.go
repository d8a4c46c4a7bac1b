package runfolder

import (
	"errors"
	"fmt"
	"os"
)

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
