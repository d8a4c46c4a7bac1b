package ranks

import (
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/train/cluster"
)

// TestSameVersion: all ranks know that one has another version, and none waits for another.
func TestSameVersion(t *testing.T) {
	for _, other := range []string{"1", "2"} {
		err := cluster.Run(3, func(comm cluster.Comm) error {
			g := New(comm, "1")
			if comm.Rank() == 2 {
				g.Version = other
			}
			err := g.SameVersion()
			if differ := other == "2"; g.Ended != differ || (err != nil) != differ {
				t.Errorf("rank %d of version %s: ended %v, %v", comm.Rank(), g.Version, g.Ended, err)
			}
			return err
		})
		if other == "2" && (err == nil || !strings.Contains(err.Error(), "rank 2: the version of w2vcl is 2, but on rank 0 it is 1")) {
			t.Errorf("%v", err)
		}
	}
}
