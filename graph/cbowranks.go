package graph

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/train/cluster"
	"github.com/w2vcl/w2vcl/train/cluster/lead"
	"github.com/w2vcl/w2vcl/train/trainer"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// RankCBOW is a CBOW that several ranks train together, to the bits of one: see onRanks. The text of each rank is
// the whole one.
type RankCBOW struct {
	*CBOW
	lead.Iterations
	whole []trainer.Tensor // on rank 0, if ranks share columns: the state with all of them
}

var _ lead.Member = (*RankCBOW)(nil)

// CheckRankCBOW returns why a model cannot be trained on several ranks; nil if it can.
func CheckRankCBOW(s *wordcontext.Stretches, c Options) error {
	switch bytes := 4 * int64(s.Capacity()) * int64(c.Dim); {
	case c.Encoder != nil && c.Composition == nil:
		return errors.New("several ranks train no encoder that is a network: take --subword ngram or none, or use one rank")
	case c.Start != nil:
		return errors.New("several ranks cannot start from given vectors: leave out --init, or use one rank")
	case c.Form == FormStock:
		return fmt.Errorf("several ranks train graph form %q only", FormFused)
	case bytes > cluster.MostBytes:
		return fmt.Errorf("an iteration has %d places of %d values, more than several ranks can exchange: lower --batch, or use one rank", s.Capacity(), c.Dim)
	}
	return nil
}

// PlanRankCBOW asks an account for what NewRankCBOW takes on a rank of several.
func PlanRankCBOW(a *trainer.Account, s *wordcontext.Stretches, ranks, rank int, c Options) error {
	c.Account = a
	c, err := c.onRank(s, ranks, rank)
	if err == nil {
		_, err = allocateCBOW(s, c)
	}
	return err
}

// onRank returns the options of a rank, with defaults. Rank 0 takes the memory of whole moments, which it saves.
func (c Options) onRank(s *wordcontext.Stretches, ranks, rank int) (Options, error) {
	err := CheckRankCBOW(s, c)
	if err == nil && (ranks < 1 || ranks > math.MaxUint16) {
		err = fmt.Errorf("there are %d ranks; there may be %d", ranks, math.MaxUint16)
	}
	if err == nil {
		c, err = c.forStretches(s)
	}
	if err != nil {
		return c, err
	}
	if c.ranks, err = newOnRanks(ranks, rank, s, c); err == nil && rank == 0 && c.ranks.columns != nil {
		x := c.Composition
		c.Account.Take(trainer.ForMoments, c.Optimizer.Bytes(len(x.Parts)/x.Dim, x.Dim))
		if x.Own != nil {
			c.Account.Take(trainer.ForMoments, c.Optimizer.Bytes(x.Words(), x.Dim))
		}
	}
	return c, err
}

// NewRankCBOW is NewCBOW on a rank of several, which all call it with the same settings and text.
func NewRankCBOW(comm cluster.Comm, s *wordcontext.Stretches, iterations int, c Options) (*RankCBOW, error) {
	c, err := c.onRank(s, comm.Size(), comm.Rank())
	if err != nil {
		return nil, err
	}
	c.ranks.comm = comm
	t, err := NewCBOW(s, iterations, c)
	if err != nil {
		return nil, err
	}
	r := &RankCBOW{CBOW: t}
	if comm.Rank() == 0 && c.ranks.columns != nil {
		r.whole = r.wholeState()
	}
	return r, nil
}

// wholeState lists the state with all columns. Parts and own rows are those of the given composition.
func (t *RankCBOW) wholeState() (whole []trainer.Tensor) {
	p := t.made.(*partRows)
	for _, s := range t.CBOW.State() {
		switch {
		case s.Name == "parts":
			s.Data = p.whole.Parts
		case s.Name == "words":
			s.Data = p.whole.Own
		case t.cut(s):
			s.Data = memory.Floats(len(s.Data) / p.Dim * p.whole.Dim)
		}
		whole = append(whole, s)
	}
	return whole
}

// cut reports whether a rank has some columns of a tensor of the state.
func (t *RankCBOW) cut(s trainer.Tensor) bool {
	name, _, _ := strings.Cut(s.Name, ".")
	return t.ranks.columns != nil && (name == "parts" || name == "words") && s.Name != "parts.updates"
}

// RankTraffic returns about how many bytes a rank sends in an iteration, in which so many words of N values occur in so many places; composed
// says that they are composed of parts.
func RankTraffic(words, places float64, ranks, dim int, composed bool) float64 {
	row, others := 4*float64(dim), float64(ranks-1)/float64(ranks)
	ofRows, ofPlaces := words*row*others, places/float64(ranks)*row*others
	if composed { // rows of C, columns of W, columns of gradients
		return 2*ofRows + ofRows/float64(ranks) + ofPlaces
	}
	return 2*ofRows + ofPlaces
}

// RankCalls is how many exchanges an iteration has; composed says that words are composed of parts.
func RankCalls(composed bool) int {
	if composed {
		return 6
	}
	return 5
}

// State is that of CBOW. On rank 0 it is whole once it was pulled.
func (t *RankCBOW) State() []trainer.Tensor {
	if t.whole != nil {
		return t.whole
	}
	return t.CBOW.State()
}

// Train trains some iterations.
func (t *RankCBOW) Train(first int, rates []float64) ([]trainer.Report, error) {
	return t.Iterations.Train(first, rates, func(unit int, rate float64) (trainer.Report, error) {
		return t.Advance(context.Background(), unit, rate)
	})
}

// Pull brings what words are composed of to rank 0, and with everything the moments, which no other rank has whole.
func (t *RankCBOW) Pull(everything bool) error {
	for i, s := range t.CBOW.State() {
		moment := strings.HasSuffix(s.Name, "-moment")
		var err error
		switch {
		case moment && !everything:
		case t.cut(s):
			err = t.moveColumns(s.Data, t.wholeData(i), false)
		case moment && !strings.HasPrefix(s.Name, "parts"): // else it is of whole rows, which all ranks train
			ends, values := make([]int, t.ranks.size), len(s.Data)/t.contexts.rows
			for r := range ends {
				ends[r] = 4 * values * t.ranks.words[r+1]
			}
			err = cluster.GatherLong(t.ranks.comm, cluster.Bytes(s.Data), ends)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Push sends what State holds on rank 0 to all ranks.
func (t *RankCBOW) Push() error {
	for i, s := range t.CBOW.State() {
		var err error
		if t.cut(s) {
			err = t.moveColumns(s.Data, t.wholeData(i), true)
		} else {
			err = cluster.BcastValues(t.ranks.comm, s.Data, 0)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *RankCBOW) wholeData(i int) []float32 {
	if t.whole == nil {
		return nil
	}
	return t.whole[i].Data
}

// moveColumns moves the columns of all ranks to the whole table on rank 0, some rows at a time, or back.
func (t *RankCBOW) moveColumns(own, whole []float32, back bool) error {
	const movedBytes = 4 << 20
	o := t.ranks
	n, width := t.options.Dim, o.width(o.rank, t.options.Dim)
	rows := len(own) / width
	atATime := min(rows, max(movedBytes/(4*n), 1))
	all := []float32(nil)
	if o.rank == 0 {
		all = make([]float32, atATime*n)
	}
	for first := 0; first < rows; first += atATime {
		count := min(atATime, rows-first)
		ofRank, ofAll, none := make([]int, o.size), make([]int, o.size), make([]int, o.size)
		for r := range o.size {
			ofRank[r], ofAll[r] = 4*count*width, 4*count*o.columns[r+1]
		}
		part := cluster.Bytes(own[first*width:][:count*width])
		var err error
		switch {
		case o.rank > 0 && back:
			err = o.comm.AllToAll(nil, none, part, ofRank)
		case o.rank > 0:
			err = o.comm.AllToAll(part, ofRank, nil, none)
		case back:
			t.interleave(whole[first*n:], all, count, true)
			err = o.comm.AllToAll(cluster.Bytes(all[:count*n]), ofAll, part, ofRank)
		default:
			err = o.comm.AllToAll(part, ofRank, cluster.Bytes(all[:count*n]), ofAll)
			t.interleave(whole[first*n:], all, count, false)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// interleave copies rows between a whole table and the columns of one rank after another.
func (t *RankCBOW) interleave(whole, parts []float32, rows int, apart bool) {
	o, n := t.ranks, t.options.Dim
	_ = eachRow(o.team, rows, func(_, row int) {
		for r := range o.size {
			w := o.width(r, n)
			part, all := parts[rows*o.columns[r]+row*w:][:w], whole[row*n+o.columns[r]:][:w]
			if apart {
				copy(part, all)
			} else {
				copy(all, part)
			}
		}
	})
}
