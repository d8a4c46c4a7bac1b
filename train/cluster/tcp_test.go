package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/w2vcl/w2vcl/train/cluster"
)

// launches are those of so many ranks on this host, at a free port.
func launches(t *testing.T, ranks int) []cluster.Launch {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	all := make([]cluster.Launch, ranks)
	for r := range all {
		all[r] = cluster.Launch{Rank: r, Size: ranks, Address: "127.0.0.1", Port: l.Addr().(*net.TCPAddr).Port - 1}
	}
	return all
}

// onTCP starts a rank for each launch, and returns the error of each.
func onTCP(ctx context.Context, all []cluster.Launch, version func(rank int) string, work func(c *cluster.TCP) error) []error {
	errs := make([]error, len(all))
	var working sync.WaitGroup
	for i, l := range all {
		working.Go(func() {
			o := cluster.TCPOptions{Version: version(i), Notef: func(string, ...any) {}, End: func(int, string) {}}
			c, err := cluster.StartTCP(ctx, l, o)
			if err == nil {
				err = errors.Join(work(c), c.Close())
			}
			errs[i] = err
		})
	}
	working.Wait()
	return errs
}

func oneVersion(int) string { return "1" }

// TestTCP: ranks keep to what Comm says, though something else connects to rank 0 first.
func TestTCP(t *testing.T) {
	for _, ranks := range []int{1, 2, 3, 5, 8} {
		t.Run(fmt.Sprint(ranks), func(t *testing.T) {
			all := launches(t, ranks)
			ctx, cancel := context.WithCancel(t.Context())
			var stray sync.WaitGroup
			stray.Go(func() {
				for ; ctx.Err() == nil; time.Sleep(time.Millisecond) {
					if conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", all[0].Port+1)); err == nil {
						_, _ = conn.Write([]byte("GET / HTTP/1.1\r\n\r\n"))
						conn.Close()
					}
				}
			})
			errs := onTCP(t.Context(), all, oneVersion, func(c *cluster.TCP) error { return check(c) })
			cancel()
			stray.Wait()
			if err := errors.Join(errs...); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestTCPRefused: rank 0 and who has come by then learn which is wrong, or missing.
func TestTCPRefused(t *testing.T) {
	for name, test := range map[string]struct {
		change  func(all []cluster.Launch) []cluster.Launch
		version func(rank int) string
		want    string
	}{
		"size":      {func(all []cluster.Launch) []cluster.Launch { all[1].Size = 4; return all }, oneVersion, "is one of 4 ranks by its WORLD_SIZE, but rank 0 is one of 3"},
		"doubled":   {func(all []cluster.Launch) []cluster.Launch { all[1].Rank = 2; return all }, oneVersion, "two processes have RANK 2; "},
		"outside":   {func(all []cluster.Launch) []cluster.Launch { all[1].Rank = 3; return all[:2] }, oneVersion, "there is no rank 3 "},
		"version":   {func(all []cluster.Launch) []cluster.Launch { return all }, func(rank int) string { return fmt.Sprint(rank / 2) }, "the version of w2vcl is 1, but on rank 0 it is 0"},
		"missing":   {func(all []cluster.Launch) []cluster.Launch { return all[:1] }, oneVersion, "rank 1, 2 of 3 did not come: it took too long"},
		"no rank 0": {func(all []cluster.Launch) []cluster.Launch { return all[1:] }, oneVersion, "waiting for rank 0 and others: it took too long"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeoutCause(t.Context(), 2*time.Second, errors.New("it took too long"))
			defer cancel()
			all := test.change(launches(t, 3))
			for i, err := range onTCP(ctx, all, test.version, func(*cluster.TCP) error { return nil }) {
				late := all[i].Rank > 0 && strings.Contains(fmt.Sprint(err), "waiting for rank 0 and others: it took too long")
				if err == nil || !strings.Contains(err.Error(), test.want) && !late {
					t.Errorf("rank %d: %v, not %q", all[i].Rank, err, test.want)
				}
			}
		})
	}
}

// TestTCPAbort: a rank that aborts ends the others, which learn why.
func TestTCPAbort(t *testing.T) {
	errs := onTCP(t.Context(), launches(t, 3), oneVersion, func(c *cluster.TCP) error {
		if c.Rank() == 2 {
			c.Abort(3)
			return nil
		}
		_, err := cluster.Each(c, 0)
		return err
	})
	for rank, err := range errs[:2] {
		if err == nil || !strings.Contains(err.Error(), "rank 2 has ended all ranks") {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}
