package train

import (
	"errors"
	"fmt"
)

// A UsageError is a request that cannot be carried out as asked: an unknown
// setting or an impossible value. The command line exits with 2 for it.
type UsageError struct{ Message string }

func (e *UsageError) Error() string { return e.Message }

// Usagef returns a [UsageError] with a formatted message.
func Usagef(format string, args ...any) error {
	return &UsageError{fmt.Sprintf(format, args...)}
}

// ErrInterrupted is returned, wrapped, by [Run] when the context was cancelled
// and the vectors trained until then were saved.
var ErrInterrupted = errors.New("interrupted")

// ErrComplete is returned by [Resume] for a run that is finished.
var ErrComplete = errors.New("the run is complete")

// errStopped is what an interrupt leads to before there is anything to save.
var errStopped = errors.New("stopped before training began; nothing was saved")
