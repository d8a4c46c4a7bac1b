package device

import (
	"context"
	"errors"
	"sync"

	"github.com/w2vcl/w2vcl/kernels/cuda/cl"
	"github.com/w2vcl/w2vcl/kernels/cuda/sentence"
	encoder "github.com/w2vcl/w2vcl/kernels/cuda/subword"
	"github.com/w2vcl/w2vcl/train/cluster"
)

// byMessages are several GPUs of this process that cannot use each other's memory, as one Device: ranks that are goroutines. Those
// after the first follow it.
type byMessages struct {
	onRanks           // rank 0
	all     []onRanks // all ranks
}

func newByMessages(devices []Device) (Device, error) {
	g := &byMessages{}
	for rank, comm := range cluster.Local(len(devices)) {
		r, err := newOnRanks(devices[rank], &cluster.Group{Comm: comm})
		if err != nil {
			return nil, err
		}
		g.all = append(g.all, r)
	}
	g.onRanks = g.all[0]
	return g, nil
}

// Name tells how the GPUs meet.
func (g *byMessages) Name() string { return g.onRanks.Name() + " by NCCL" }

// Memory is that of the GPU with the least free.
func (g *byMessages) Memory() (free, total int64, err error) { return leastFree(g.all) }

// Peak is that of the GPU that had most.
func (g *byMessages) Peak() int64 { return mostAtPeak(g.all) }

func (g *byMessages) Close() (err error) {
	for _, d := range g.all {
		err = errors.Join(err, d.Close())
	}
	return err
}

func (g *byMessages) NewSentence(c sentence.Options) (SentenceKernels, error) {
	f, err := newFollowed(g.all, func(d onRanks) (*sentenceRanks, error) { return d.newSentence(c) })
	if err != nil {
		return nil, err
	}
	return &sentencesByMessages{f.kernels[0], f}, nil
}

func (g *byMessages) NewCL(c cl.Options, e *encoder.Structure) (CLKernels, error) {
	f, err := newFollowed(g.all, func(d onRanks) (*clRanks, error) { return d.newCL(c, e) })
	if err != nil {
		return nil, err
	}
	return &clByMessages{f.kernels[0], f}, nil
}

type sentencesByMessages struct {
	*sentenceRanks
	followed *followed[*sentenceRanks]
}

func (k *sentencesByMessages) Close() error { return k.followed.close() }

type clByMessages struct {
	*clRanks
	followed *followed[*clRanks]
}

// SetMatrix brings M to all GPUs.
func (k *clByMessages) SetMatrix(m cl.Matrix) error {
	for _, kernels := range k.followed.kernels {
		if err := kernels.SetMatrix(m); err != nil {
			return err
		}
	}
	return nil
}

func (k *clByMessages) Close() error { return k.followed.close() }

// followed are the kernels of all ranks. Those after the first follow it.
type followed[K rankKernels] struct {
	kernels []K
	ranks   *cluster.Group // of rank 0
	working sync.WaitGroup
	errs    []error // of each rank
}

// rankKernels are sentenceRanks or clRanks.
type rankKernels interface {
	Follow(ctx context.Context) error
	Close() error
	abort()
}

// newFollowed makes the kernels of all ranks, which wait for each other, and lets them follow.
func newFollowed[K rankKernels](ranks []onRanks, create func(d onRanks) (K, error)) (*followed[K], error) {
	f := &followed[K]{kernels: make([]K, len(ranks)), ranks: ranks[0].ranks, errs: make([]error, len(ranks))}
	for rank, d := range ranks {
		f.working.Go(func() { f.kernels[rank], f.errs[rank] = create(d) })
	}
	f.working.Wait()
	for _, err := range f.errs {
		if err != nil {
			return nil, err // all have one
		}
	}
	for rank, k := range f.kernels[1:] {
		f.working.Go(func() {
			if f.errs[rank+1] = k.Follow(context.Background()); f.errs[rank+1] != nil {
				f.abort()
			}
		})
	}
	return f, nil
}

// abort ends what waits for other ranks.
func (f *followed[K]) abort() {
	f.ranks.Abort(1)
	for _, k := range f.kernels {
		k.abort()
	}
}

func (f *followed[K]) close() error {
	err := f.kernels[0].Close()
	if f.ranks.Failed() {
		f.abort()
	}
	f.working.Wait()
	for rank, k := range f.kernels[1:] {
		err = errors.Join(err, f.errs[rank+1], k.Close())
	}
	return err
}
