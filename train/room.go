package train

import (
	"fmt"
	"path/filepath"

	"github.com/w2vcl/w2vcl/internal/machine"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/subword"
)

// room is what a run writes, in bytes.
type room struct {
	vectors    int64 // vectors.bin and context.bin
	checkpoint int64
}

func (j *job) room() room {
	const overhead = 64 << 10 // the small files, and headers
	words, v := int64(0), int64(j.vocabulary.Len())
	for _, word := range j.vocabulary.Words {
		words += int64(len(word))
	}
	r := room{vectors: 2*(words+v*int64(4*j.config.Dim+2)) + overhead, checkpoint: overhead}
	if j.encoder != nil {
		r.vectors += subword.FileBytes(j.encoder)
	}
	for _, t := range j.trainer.State() {
		r.checkpoint += 4 * int64(len(t.Data))
	}
	return r
}

// next is what must be free for one more checkpoint, and for the vectors at
// last. A new checkpoint takes the place of the one before, once it is whole.
func (r room) next(saved bool) int64 {
	if saved {
		return max(r.checkpoint, r.vectors)
	}
	return r.checkpoint + r.vectors
}

// check refuses a run whose vectors do not fit on the disk, and warns if its
// checkpoints do not.
func (r room) check(folder *runFolder, p *terminal.Progress) error {
	free, ok := machine.FreeSpace(folder.dir)
	if !ok {
		return nil
	}
	where := filepath.Dir(folder.dir)
	if free < r.vectors {
		return fmt.Errorf("the disk of %s has %s free, but the vectors of this run take %s: make room, or choose an --out elsewhere",
			where, terminal.Bytes(free), terminal.Bytes(r.vectors))
	}
	all := r.next(true)
	if !folder.hasCheckpoint() {
		all += r.checkpoint
	}
	if free < all {
		p.Notef("Warning: the disk of %s has %s free; with checkpoints this run needs %s, so it may have to do without", where, terminal.Bytes(free), terminal.Bytes(all))
	}
	return nil
}

// forCheckpoint refuses a checkpoint that would take the room of the vectors.
func (r room) forCheckpoint(folder *runFolder) error {
	free, ok := machine.FreeSpace(folder.dir)
	if all := r.next(folder.hasCheckpoint()); ok && free < all {
		return fmt.Errorf("the disk has %s free, but a checkpoint of %s and vectors of %s need %s", terminal.Bytes(free), terminal.Bytes(r.checkpoint), terminal.Bytes(r.vectors), terminal.Bytes(all))
	}
	return nil
}
