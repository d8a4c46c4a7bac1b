package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/train/cluster"
)

// TestLocal: local ranks keep to what Comm says.
func TestLocal(t *testing.T) {
	for _, ranks := range []int{1, 2, 3, 5, 8} {
		t.Run(fmt.Sprint(ranks), func(t *testing.T) {
			if err := cluster.Run(ranks, check); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAgree(t *testing.T) {
	bad := errors.New("no such file")
	err := cluster.Run(3, func(c cluster.Comm) error {
		if err := cluster.Agree(c, nil); err != nil {
			return err
		}
		if err := cluster.Agree(c, bad); !errors.Is(err, bad) {
			return fmt.Errorf("all ranks failed alike, and Agree says %w", err)
		}
		var own error
		if c.Rank() == 1 {
			own = bad
		}
		if err := cluster.Agree(c, own); err == nil || err.Error() != "rank 1: no such file" {
			return fmt.Errorf("rank 1 failed, and Agree says %w", err)
		}
		err := cluster.Same(c, "version", fmt.Sprint(c.Rank()/2))
		if err == nil || !strings.Contains(err.Error(), "rank 2: version is 1, but on rank 0 it is 0") {
			return fmt.Errorf("rank 2 differs, and Same says %w", err)
		}
		return cluster.Same(c, "version", "1")
	})
	if err != nil {
		t.Error(err)
	}
}

// TestStopped: all ranks learn that one was told to stop.
func TestStopped(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	err := cluster.Run(3, func(c cluster.Comm) error {
		if stopped, err := cluster.Stopped(t.Context(), c); stopped || err != nil {
			return fmt.Errorf("no rank was told to stop, and Stopped says %v, %w", stopped, err)
		}
		ctx := t.Context()
		if c.Rank() == 1 {
			ctx = ended
		}
		if stopped, err := cluster.Stopped(ctx, c); !stopped || err != nil {
			return fmt.Errorf("rank 1 was told to stop, and Stopped says %v, %w", stopped, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestAbort: no rank waits for one that failed.
func TestAbort(t *testing.T) {
	bad := errors.New("bad")
	err := cluster.Run(3, func(c cluster.Comm) error {
		if c.Rank() == 2 {
			return bad
		}
		_, err := cluster.Each(c, 0)
		return err
	})
	if !errors.Is(err, bad) {
		t.Errorf("Run says %v", err)
	}
}

// TestMismatch: ranks that make different calls are told so.
func TestMismatch(t *testing.T) {
	err := cluster.Run(2, func(c cluster.Comm) error {
		if c.Rank() == 0 {
			_, err := cluster.Each(c, 0)
			return err
		}
		part := []int{1, 2}
		return c.AllToAll(make([]byte, 2), part, make([]byte, 2), part)
	})
	if err == nil || !strings.Contains(err.Error(), "where rank") {
		t.Errorf("Run says %v", err)
	}
}
