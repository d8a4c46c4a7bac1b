//go:build gpu

package device

import (
	"github.com/w2vcl/w2vcl/kernels/cuda/cl"
	"github.com/w2vcl/w2vcl/kernels/cuda/nccl"
	"github.com/w2vcl/w2vcl/kernels/cuda/sentence"
	"github.com/w2vcl/w2vcl/train/cluster"
)

var _ Joining = cudaDevice{}

// NCCL returns the library that GPUs of several ranks would use.
func NCCL() (NCCLLibrary, error) { return nccl.Find() }

// NewSentencePart finds the other ranks by NCCL.
func (d cudaDevice) NewSentencePart(c sentence.Options, ranks cluster.Comm) (SentencePart, error) {
	part, err := sentence.NewPart(d.Device, c, ranks.Rank(), ranks.Size())
	if err = cluster.Agree(ranks, err); err == nil {
		err = d.join(ranks, func(join func() (*nccl.Comm, error)) error {
			return part.Join(func() (sentence.Exchange, error) { return join() })
		})
	}
	if err != nil && part != nil {
		_ = part.Close() // err says more
	}
	return part, err
}

// NewCLPart finds the other ranks by NCCL.
func (d cudaDevice) NewCLPart(c cl.Options, ranks cluster.Comm) (CLPart, error) {
	part, err := cl.NewRank(d.Device, c, ranks.Rank(), ranks.Size())
	if err = cluster.Agree(ranks, err); err == nil {
		err = d.join(ranks, func(join func() (*nccl.Comm, error)) error {
			return part.Join(func() (cl.Gather, error) { return join() })
		})
	}
	if err != nil && part != nil {
		_ = part.Close() // err says more
	}
	return part, err
}

// join agrees before each call that waits for other ranks.
func (d cudaDevice) join(ranks cluster.Comm, use func(join func() (*nccl.Comm, error)) error) (err error) {
	id := make([]byte, nccl.IDBytes)
	if ranks.Rank() == 0 {
		id, err = nccl.NewID()
	} else {
		_, err = nccl.Find()
	}
	if err := cluster.Agree(ranks, err); err != nil {
		return err
	}
	if err := cluster.Bcast(ranks, id, 0); err != nil {
		return err
	}
	return cluster.Agree(ranks, use(func() (*nccl.Comm, error) { return nccl.Join(d.Device, id, ranks.Rank(), ranks.Size()) }))
}
