//go:build mpi

package cluster_test

import (
	"os"
	"testing"
	"time"

	"github.com/w2vcl/w2vcl/train/cluster"
)

func TestZZ(t *testing.T) {
	l := cluster.Launched()
	c, err := cluster.Start(t.Context(), l, cluster.TCPOptions{Notef: t.Logf, End: func(int, string) { os.Exit(3) }})
	if err != nil {
		t.Fatal(err)
	}
	n := c.Size()
	for _, size := range []int{8, 1 << 10, 64 << 10, 1 << 20, 8 << 20, 64 << 20} {
		a, b := make([]byte, size), make([]byte, size)
		ends := make([]int, n)
		for r := range ends {
			ends[r] = size * (r + 1) / n
		}
		times := max(min(20000, 1<<31/size/4), 16)
		start := time.Now()
		for range times {
			if err := c.AllToAll(a, ends, b, ends); err != nil {
				t.Fatal(err)
			}
			if err := c.AllGather(a, ends); err != nil {
				t.Fatal(err)
			}
		}
		took := time.Since(start)
		if c.Rank() == 0 {
			println(size, "bytes:", took.Microseconds()/int64(times), "us;", int(float64(size)*float64(times)/took.Seconds()/1e6), "MB/s all-reduced")
		}
	}
	if _, err := cluster.Each(c, 0); err != nil {
		t.Fatal(err)
	}
	c.Close()
}
