package main

import (
	"strconv"

	"github.com/spf13/cobra"

	"github.com/w2vcl/w2vcl/cmd/internal/bench"
	"github.com/w2vcl/w2vcl/train/settings"
)

// benchSamples are the samples of the words in a benchmark of steps.
type benchSamples struct{ bench.Samples }

// addTo defines their flags. By default each word has one sample in an iteration.
func (o *benchSamples) addTo(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.Float64Var(&o.Tempering, "tempering", 0, "give words samples in proportion to the power `X` of their contexts in the text")
	flags.Float64Var(&o.Positives, "positives", 1, "context samples `N` of a word in an iteration, on average over the words")
	flags.IntVar(&o.MaxPositives, "max-positives", 128, "context samples `N` of a word in an iteration at most")
	flags.IntVar(&o.Shared, "shared-negatives", 0, "all words share `N` negatives in each step; 0 draws each word's own")
}

// check refuses what training refuses.
func (o *benchSamples) check() error {
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	_, err := settings.Resolve("", map[string]string{
		"corpus": "-", "tempering": number(o.Tempering), "positives": number(o.Positives),
		"max-positives": strconv.Itoa(o.MaxPositives), "shared-negatives": strconv.Itoa(o.Shared),
	})
	return err
}

// samples returns the samples asked for; the zero value if words have these anyway.
func (o *benchSamples) samples() bench.Samples {
	s := o.Samples
	if s.Tempering == 0 {
		s.MaxPositives = 0
		if s.Positives == 1 {
			s.Positives = 0
		}
	}
	return s
}
