//go:build gpu

package sentence

import (
	"errors"

	"github.com/w2vcl/w2vcl/kernels/cuda"
	"gorgonia.org/cu"
)

// A series is a device's memory for the units that one call trains. A run with a budget may have a million times as many
// units as it trains, so it has no place for each.
type series struct{ rates, losses, pairs room }

// begin sends the learning rates of units, and sets their losses and pairs to 0.
func (s *series) begin(d *cuda.Device, rates []float32) error {
	n := len(rates)
	err := errors.Join(s.rates.reach(d, "learning rates", 4*n), s.losses.reach(d, "losses", 8*n), s.pairs.reach(d, "numbers of pairs", 8*n))
	if err != nil {
		return err
	}
	zeros := make([]uint64, n)
	return errors.Join(cuda.Send(s.rates.memory, rates), cuda.Send(s.losses.memory, zeros), cuda.Send(s.pairs.memory, zeros))
}

// bases returns where unit 0 of a run would have its rate, loss and pairs if unit first is the first of the series.
func (s *series) bases(first int) (rates, losses, pairs cu.DevicePtr) {
	at := cu.DevicePtr(first)
	return s.rates.memory - 4*at, s.losses.memory - 8*at, s.pairs.memory - 8*at
}

// end returns the losses and pairs of so many units, whose training is over.
func (s *series) end(units int) (losses, pairs []float64, err error) {
	losses, counts := make([]float64, units), make([]uint64, units)
	err = errors.Join(cuda.Receive(losses, s.losses.memory), cuda.Receive(counts, s.pairs.memory))
	for _, n := range counts {
		pairs = append(pairs, float64(n))
	}
	return losses, pairs, err
}

// A room is memory of a device that grows. What it holds is lost when it does.
type room struct {
	memory cu.DevicePtr
	bytes  int
}

// reach sees to it that there are so many bytes, of a purpose.
func (r *room) reach(d *cuda.Device, what string, bytes int) (err error) {
	if bytes <= r.bytes {
		return nil
	}
	err = d.Free(r.memory)
	*r = room{}
	if err != nil {
		return err
	}
	if r.memory, err = d.Allocate(what, int64(bytes)); err == nil {
		r.bytes = bytes
	}
	return err
}
