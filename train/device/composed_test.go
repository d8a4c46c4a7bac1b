package device_test

import (
	"testing"

	"github.com/w2vcl/w2vcl/kernels/composed"
	"github.com/w2vcl/w2vcl/sequential"
	"github.com/w2vcl/w2vcl/subword"
	"github.com/w2vcl/w2vcl/train/device"
	"github.com/w2vcl/w2vcl/train/device/devicetest"
)

// newComposed is an algorithm with n-grams. On the CPU, too, the n-grams learn at the end of a unit.
func newComposed(t *testing.T, seed uint64, algorithm sequential.Algorithm, model sequential.Model, own bool) *pair {
	c, noise := text(t, seed, 1500)
	options := sequential.Options{
		Algorithm: algorithm, Model: model, Dim: 7, Window: 5, Negatives: 3, Sample: 1e-2, Epochs: 3, Seed: seed, Threads: 1, Block: 1 << 30,
	}
	composition := func() *composed.Composition {
		x := compositionOf(t, c.Vocabulary.Words, subword.NGramOptions{Dim: 7, Buckets: 50, Own: own}, 1)
		if x.Most = 3; own {
			x.Rate = .4
		}
		return x
	}
	p := &pair{fake: devicetest.New()}
	var err error
	options.Composition = composition()
	if p.cpu, err = sequential.New(c, noise, options); err != nil {
		t.Fatal(err)
	}
	options.Composition = composition()
	if p.gpu, err = device.NewSequential(p.fake, c, noise, options, device.Float32); err != nil {
		t.Fatal(err)
	}
	return p
}
