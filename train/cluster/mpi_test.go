//go:build mpi

package cluster_test

import (
	"os"
	"testing"

	"github.com/w2vcl/w2vcl/train/cluster"
)

// TestMPI: the library in use keeps to what Comm says, for as many ranks as the launcher
// starts: mpirun -n 3 cluster.test -test.run TestMPI.
func TestMPI(t *testing.T) {
	l, err := cluster.FindMPI()
	if err != nil {
		if os.Getenv("W2VCL_NEED_MPI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	want := cluster.Launched()
	c, err := cluster.StartMPI(want)
	if err != nil {
		t.Fatal(err)
	}
	if want.Size > 1 && (c.Size() != want.Size || c.Rank() != want.Rank) {
		t.Errorf("rank %d of %d; the launcher says %+v", c.Rank(), c.Size(), want)
	}
	t.Logf("rank %d of %d, %+v", c.Rank(), c.Size(), l)
	if err := check(c); err != nil {
		t.Error(err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}
