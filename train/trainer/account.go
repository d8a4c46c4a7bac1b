package trainer

import (
	"slices"
	"unsafe"

	"github.com/w2vcl/w2vcl/internal/memory"
)

// An Account gives out the memory of a trainer and lists how much each purpose
// has. The same code allocates and plans: a live account gives memory until its limit, a dry one
// ([Dry]) only counts and returns nil. The nil account gives memory without counting.
type Account struct {
	needs []need
	check func(a *Account) error // called before a piece is given; nil: the account is dry
	err   error
}

// A need is memory for one purpose, in bytes.
type need struct {
	purpose string
	bytes   int64
}

// Purposes of the memory that trainers ask for.
const (
	ForTables  = "tables"  // W, C, and the parameters of what composes W
	ForMoments = "moments" // of the optimizer
	ForWork    = "work"    // samples, gradients, and all that lives as long as the trainer
)

// NewAccount returns a live account. check returns an error if the account, with the latest request,
// exceeds the limit.
func NewAccount(check func(a *Account) error) *Account { return &Account{check: check} }

// Dry returns a dry account that has counted the memory of a constructor.
func Dry(construct func(a *Account)) *Account {
	a := &Account{}
	construct(a)
	return a
}

// Floats returns n zeros, or nil if the account is dry or out of memory (see Err).
func (a *Account) Floats(purpose string, n int) []float32 {
	if !a.Take(purpose, memory.SizeOf(n)) {
		return nil
	}
	return memory.Floats(n)
}

// Of is Floats for values of any type.
func Of[T any](a *Account, purpose string, n int) []T {
	var zero T
	if !a.Take(purpose, int64(n)*int64(unsafe.Sizeof(zero))) {
		return nil
	}
	return make([]T, n)
}

// Take counts memory allocated elsewhere. It reports whether to allocate it.
func (a *Account) Take(purpose string, bytes int64) bool {
	switch {
	case a == nil:
		return true
	case a.err != nil:
		return false
	}
	if bytes == 0 {
		return a.Live()
	}
	i := slices.IndexFunc(a.needs, func(n need) bool { return n.purpose == purpose })
	if i < 0 {
		i, a.needs = len(a.needs), append(a.needs, need{purpose: purpose})
	}
	a.needs[i].bytes += bytes
	if a.check != nil {
		a.err = a.check(a)
	}
	return a.Live()
}

// Live reports whether the account gives memory.
func (a *Account) Live() bool { return a == nil || a.check != nil && a.err == nil }

// Err is the error of the first request that was refused.
func (a *Account) Err() error {
	if a == nil {
		return nil
	}
	return a.err
}

// Sum is what was given for some purposes; for all if none is named.
func (a *Account) Sum(purposes ...string) (bytes int64) {
	for _, n := range a.needs {
		if len(purposes) == 0 || slices.Contains(purposes, n.purpose) {
			bytes += n.bytes
		}
	}
	return bytes
}
