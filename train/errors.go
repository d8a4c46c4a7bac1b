package train

import "errors"

// ErrInterrupted is returned, wrapped, by [Run] when the context was cancelled
// and the vectors trained until then were saved.
var ErrInterrupted = errors.New("interrupted")

// ErrComplete is returned by [Resume] for a run that is finished.
var ErrComplete = errors.New("the run is complete")

// errStopped is what an interrupt leads to before there is anything to save.
var errStopped = errors.New("stopped before training began; nothing was saved")
