package memory

import (
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/w2vcl/w2vcl/internal/machine"
	"github.com/w2vcl/w2vcl/internal/terminal"
)

// A Guard refuses work that would need more memory than there is. A system that
// runs out of memory kills processes, and not always the one that is to blame.
type Guard struct {
	Limit int64 // bytes that the process may have resident; 0: unknown, nothing is refused
	Asked bool  // --max-memory says so
}

// NewGuard returns the guard of a limit in bytes that was asked for, or with 0 of the
// memory that the machine has available. Until release is called, [Room] keeps to a
// limit that was asked for, and Go's collector works harder near either limit.
func NewGuard(limit int64) (g Guard, release func()) {
	g = Guard{Limit: limit, Asked: limit > 0}
	if !g.Asked {
		total, available := machine.Memory()
		if g.Limit = total; available > 0 {
			g.Limit = available + machine.Resident()
		}
	}
	if g.Limit == 0 {
		return g, func() {}
	}
	before := debug.SetMemoryLimit(-1)
	debug.SetMemoryLimit(min(max(g.Limit-program, 0), before))
	outer := g.enter()
	return g, func() {
		debug.SetMemoryLimit(before)
		outer.enter()
	}
}

// program is about how much of the program's resident memory Go's limit does not count: its code, mostly.
const program = 16 << 20

// Margin is what work takes beside tables and buffers of so many bytes: code and stacks that come into memory,
// garbage, and buffers that are not worth counting. Plans are sums with this margin. benchmarks/plans compares them
// with peaks: they are never too low.
func Margin(bytes int64) int64 { return 16<<20 + bytes/16 }

// enter makes the guard the one that Room asks. It returns the one before.
func (g Guard) enter() (before Guard) {
	room.Lock()
	defer room.Unlock()
	before, room.guard = room.guard, g
	return before
}

// A Need is memory for one purpose.
type Need struct {
	Purpose string
	Bytes   int64
}

// Check returns an error if the needs together are more than the limit. advice says
// how to need less. A limit of what the error states is enough: it is a little more than the sum, because
// it is rounded and because the next process may begin with more resident.
func (g Guard) Check(doing, advice string, needs ...Need) error {
	sum := int64(0)
	var parts []string
	for _, n := range needs {
		sum += n.Bytes
		if n.Bytes > 0 {
			parts = append(parts, n.Purpose+" "+terminal.Bytes(n.Bytes))
		}
	}
	if g.Limit == 0 || sum <= g.Limit {
		return nil
	}
	whose := "this machine has " + terminal.Bytes(g.Limit) + " available" + " (--max-memory sets another limit)"
	switch _, _, limited := machine.AddressSpace(); {
	case limited && !g.Asked:
		whose = "ulimit -v leaves " + terminal.Bytes(g.Limit) + ", because Go reserves more than 1 GB of addresses"
	case g.Asked:
		whose = "--max-memory allows " + terminal.Bytes(g.Limit)
	}
	enough := sum + sum/128 + 4<<20
	return &NeedError{enough, fmt.Sprintf("%s needs about %s of memory (%s), but %s: %s", doing, terminal.Bytes(enough), strings.Join(parts, ", "), whose, advice)}
}

// A NeedError is the error of work that was refused.
type NeedError struct {
	Enough  int64 // a limit that is enough, in bytes
	message string
}

func (e *NeedError) Error() string { return e.message }
