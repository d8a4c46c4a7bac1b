package terminal

import "fmt"

// A UsageError says that the user's request is wrong: an unknown setting or an
// impossible value. The command line exits with 2 for it.
type UsageError struct{ Message string }

func (e *UsageError) Error() string { return e.Message }

// Usagef returns a [*UsageError] with a formatted message.
func Usagef(format string, args ...any) error {
	return &UsageError{fmt.Sprintf(format, args...)}
}
