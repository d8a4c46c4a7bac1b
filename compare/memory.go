package compare

import (
	"context"
	"errors"
	"fmt"

	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/train"
	"github.com/w2vcl/w2vcl/train/settings"
)

// checkTraining refuses a comparison of which a run would be refused, before any run is trained. The error is that of the
// run that needs most.
func (e *executor) checkTraining(ctx context.Context, records []*Record) error {
	var most error
	need, unknown := int64(0), ""
	check := func(counts bool) {
		for i, r := range e.runs {
			var refused *memory.NeedError
			if records[i].Finished || r.Config.Device != settings.DeviceCPU {
				continue
			}
			err := train.CheckMemory(ctx, r.Config, e.runOptions(ctx, r, records[i]), counts)
			switch {
			case errors.As(err, &refused) && refused.Enough > need:
				need, most = refused.Enough, fmt.Errorf("%s: %w", r.Name, err)
			case errors.Is(err, memory.ErrRoom):
				unknown = fmt.Sprintf("; what %s needs is known only when its pairs are counted", r.Name)
			}
		}
	}
	if check(false); most != nil {
		check(true) // worth its time only if the comparison has to be started again
		most = fmt.Errorf("%w%s", most, unknown)
	}
	return most
}

// checkScoring refuses scoring of sentences that would not find room when a run is trained.
func (e *executor) checkScoring() error {
	if !e.options.Classify {
		return nil
	}
	for _, r := range e.runs {
		need := e.judge.classes.Bytes(e.texts[r.TextKey()].Vocabulary.Len(), r.Config.Dim)
		done, err := memory.Room(need)
		if err != nil {
			return fmt.Errorf("--classify: the networks of %s: %w: lower --dim, leave --classify out, or give it more memory", r.Name, err)
		}
		done()
	}
	return nil
}
