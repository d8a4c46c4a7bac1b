package compare

import (
	"context"
	"errors"
	"fmt"

	"github.com/w2vcl/w2vcl/compare/report"
	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/evaluate"
	"github.com/w2vcl/w2vcl/evaluate/seeds"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/train/runfolder"
)

// compareSeeds measures how far the runs of each variant agree, where there are several.
func (e *executor) compareSeeds(ctx context.Context, f *Finished) error {
	f.stability = map[string]*seeds.Stability{}
	for _, v := range f.rows() {
		var runs []string
		for i, record := range f.Records {
			if record.Variant.Name == v.Name {
				runs = append(runs, f.vectors[i])
			}
		}
		if len(runs) < 2 {
			continue
		}
		e.Progress.Notef("%s: comparing the neighbours of words between %d seeds", v.Name, len(runs))
		s, err := stabilityOf(ctx, runs)
		if err != nil {
			return stopped(ctx, fmt.Errorf("%s: %w", v.Name, err))
		}
		f.stability[v.Name] = s
	}
	return nil
}

// stabilityOf returns the stability of runs; nil if they have too few words for one.
func stabilityOf(ctx context.Context, runs []string) (*seeds.Stability, error) {
	s, err := seeds.Compare(ctx, len(runs), func(i int) (*embedding.Table, error) { return runfolder.LoadTable(ctx, runs[i]) })
	if errors.Is(err, seeds.ErrFewWords) {
		return nil, nil
	}
	return s, err
}

// StabilityTable says how far the seeds of each variant agree. It has no rows if each has
// one seed.
func (p page) StabilityTable() report.Table {
	t := report.Table{
		Name: "stability", Title: "Agreement of seeds", Head: append([]string{"of two seeds"}, p.names()...),
		Note: fmt.Sprintf("Neighbours: how many of the %d nearest neighbours of a word two seeds have in common, as a mean over pairs of seeds and words; "+
			"the interval is over the choice of words.", seeds.Neighbors),
	}
	var like *seeds.Stability // of a variant that has one
	for _, v := range p.Variants {
		if v.Stability != nil {
			like = v.Stability
		}
	}
	row := func(name string, of func(*seeds.Stability) seeds.Overlap) {
		cells := []cell{{Text: name}}
		for _, v := range p.Variants {
			i := missing
			if v.Stability != nil {
				i = of(v.Stability).Overlap
			}
			c := cell{Text: i.Value.Percent()}
			if i.Low.Valid() {
				c.Small = i.Low.Percent() + " to " + i.High.Percent()
			}
			cells = append(cells, c)
		}
		t.Rows = append(t.Rows, cells)
	}
	if like == nil {
		return t
	}
	row("neighbours, all words", func(s *seeds.Stability) seeds.Overlap { return s.All })
	for b, band := range like.Bands {
		row(fmt.Sprintf("neighbours, words %s to %s", terminal.Number(band.First), terminal.Number(band.Last)),
			func(s *seeds.Stability) seeds.Overlap { return s.Bands[b] })
	}
	return t
}

var missing = evaluate.Interval{Value: evaluate.NoScore, Low: evaluate.NoScore, High: evaluate.NoScore}
