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
	need := int64(0)
	for i, r := range e.runs {
		if records[i].Finished || r.Config.Device != settings.DeviceCPU {
			continue
		}
		var refused *memory.NeedError
		err := train.CheckMemory(ctx, r.Config, e.runOptions(ctx, r, records[i]))
		if errors.As(err, &refused) && refused.Enough > need {
			need, most = refused.Enough, fmt.Errorf("%s: %w", r.Name, err)
		}
	}
	return most
}
