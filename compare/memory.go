package compare

import (
	"fmt"
	"math"

	"github.com/w2vcl/w2vcl/internal/memory"
)

// checkScoring refuses scoring of sentences that would not find room when a run is trained.
func (e *executor) checkScoring() error {
	if !e.options.Classify {
		return nil
	}
	for _, r := range e.runs {
		need := e.judge.classes.Bytes(e.texts[r.TextKey()].Vocabulary.Len(), r.Config.Dim)
		done, err := memory.Room(need)
		if err != nil {
			return fmt.Errorf("--classify: the networks of %s: %w: lower --dim, leave --classify out, or give it more memory", r.Name, err)
		}
		done()
	}
	return nil
}

// shareOfMemory returns how many bytes each of the processes may have, of what this one leaves, which only waits for
// them; 0 if the memory is not known.
func shareOfMemory(processes int) int64 {
	memory.Resident() // gives garbage back
	left := memory.Left()
	if left == math.MaxInt64 {
		return 0
	}
	return max(left/int64(processes), 1)
}
