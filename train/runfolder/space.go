package runfolder

import (
	"fmt"
	"path/filepath"

	"github.com/w2vcl/w2vcl/internal/machine"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/train/progress"
)

// A DiskSpace is the size of a run's files, in bytes.
type DiskSpace struct {
	Vectors    int64 // vectors.bin, context.bin and the small files
	Checkpoint int64
}

// next returns the space for one more checkpoint, and for the vectors at the end
// of the run. A new checkpoint takes the place of the one before, once it is whole.
func (s DiskSpace) next(saved bool) int64 {
	if saved {
		return max(s.Checkpoint, s.Vectors)
	}
	return s.Checkpoint + s.Vectors
}

// Check refuses a run whose vectors do not fit on the disk, and warns if its
// checkpoints do not.
func (s DiskSpace) Check(folder *Folder, p *progress.Progress) error {
	free, ok := machine.FreeSpace(folder.Dir)
	if !ok {
		return nil
	}
	where := filepath.Dir(folder.Dir)
	if free < s.Vectors {
		return fmt.Errorf("the disk of %s has %s free, but the vectors of this run take %s: free some space, or choose an --out elsewhere",
			where, terminal.Bytes(free), terminal.Bytes(s.Vectors))
	}
	all := s.next(true)
	if !folder.HasCheckpoint() {
		all += s.Checkpoint
	}
	if free < all {
		p.Warnf("the disk of %s has %s free; with checkpoints this run needs %s, so it may have to do without", where, terminal.Bytes(free), terminal.Bytes(all))
	}
	return nil
}

// CheckCheckpoint refuses a checkpoint that would take the space of the vectors.
func (s DiskSpace) CheckCheckpoint(folder *Folder) error {
	free, ok := machine.FreeSpace(folder.Dir)
	if all := s.next(folder.HasCheckpoint()); ok && free < all {
		return fmt.Errorf("the disk has %s free, but a checkpoint of %s and vectors of %s need %s", terminal.Bytes(free), terminal.Bytes(s.Checkpoint), terminal.Bytes(s.Vectors), terminal.Bytes(all))
	}
	return nil
}
