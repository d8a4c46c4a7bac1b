// Package cluster is what processes on several hosts, or several on one, need to work
// on one task: a few collective calls. Start at [Comm]. [TCP] implements it over a network, [MPI] by an
// MPI library, [Local] by goroutines. With a [Group] rank 0 leads the others.
//
// In this project a rank is one of these processes. Ranks are numbered from 0.
package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unsafe"

	"github.com/w2vcl/w2vcl/internal/memory"
)

// A Comm is one rank's end of the communication. All ranks make the same calls in the
// same order, and a call returns when the rank has what it needs. The goroutine that made a Comm
// uses it; any may call Abort. After an error no call works any more.
//
// Sizes are in bytes. Ends cut a buffer into a part for each rank: the part of rank r is
// from ends[r-1], or 0, up to ends[r].
type Comm interface {
	Rank() int
	Size() int

	// AllGather gives all ranks the parts of all. Each brings its own part of buffer, in
	// its place. The ends are the same on all ranks.
	AllGather(buffer []byte, ends []int) error

	// AllToAll sends part r of send to rank r and puts what rank r sent into part r of
	// recv. What a rank sends to another is as long as what that expects.
	AllToAll(send []byte, sendEnds []int, recv []byte, recvEnds []int) error

	// Abort ends all ranks, those that are processes with this exit code.
	Abort(code int)
}

// A Value is a number that ranks exchange as it lies in memory: all have processors
// of one byte order.
type Value = memory.Number

// Ends returns the ends of parts of so many values of T each.
func Ends[T Value](counts []int) []int {
	var x T
	ends, sum := make([]int, len(counts)), 0
	for r, n := range counts {
		sum += n * int(unsafe.Sizeof(x))
		ends[r] = sum
	}
	return ends
}

// Equal returns the counts of n things spread evenly over ranks: rank r has those from
// n·r/ranks on.
func Equal(n, ranks int) []int {
	counts := make([]int, ranks)
	for r := range counts {
		counts[r] = n*(r+1)/ranks - n*r/ranks
	}
	return counts
}

// Part returns the part of a rank of a buffer.
func Part(buffer []byte, ends []int, rank int) []byte {
	if rank == 0 {
		return buffer[:ends[0]]
	}
	return buffer[ends[rank-1]:ends[rank]]
}

// Each gives all ranks the number that each brings. It returns when all ranks have called it.
func Each(c Comm, own uint64) ([]uint64, error) {
	numbers := make([]uint64, c.Size())
	numbers[c.Rank()] = own
	return numbers, c.AllGather(memory.BytesOf(numbers), Ends[uint64](Equal(c.Size(), c.Size())))
}

// Collect gives all ranks what each brings, of any length.
func Collect[T Value](c Comm, own []T) ([][]T, error) {
	counts, err := Each(c, uint64(len(own)))
	if err != nil {
		return nil, err
	}
	all, parts := cut[T](counts)
	copy(parts[c.Rank()], own)
	return parts, c.AllGather(memory.BytesOf(all), Ends[T](ints(counts)))
}

// Sum replaces each number by its sum over the ranks. Each rank adds up some of them for all.
func Sum(c Comm, numbers []uint64) error {
	counts := Equal(len(numbers), c.Size())
	ends, n := Ends[uint64](counts), counts[c.Rank()]
	received := make([]uint64, n*c.Size())
	if err := c.AllToAll(memory.BytesOf(numbers), ends, memory.BytesOf(received), Ends[uint64](slices.Repeat([]int{n}, c.Size()))); err != nil {
		return err
	}
	own := numbers[len(numbers)*c.Rank()/c.Size():][:n]
	clear(own)
	for i, x := range received {
		own[i%n] += x
	}
	return c.AllGather(memory.BytesOf(numbers), ends)
}

// Bcast copies the data of rank root to all ranks.
func Bcast(c Comm, data []byte, root int) error {
	ends := make([]int, c.Size())
	for r := root; r < c.Size(); r++ {
		ends[r] = len(data)
	}
	return c.AllGather(data, ends)
}

// mostBytes is how much BcastValues brings in one call: MPI takes less than 2 GiB.
const mostBytes = 64 << 20

// BcastValues is Bcast of any number of values of rank 0.
func BcastValues[T Value](c Comm, values []T) error {
	for data := memory.BytesOf(values); len(data) > 0; {
		n := min(len(data), mostBytes)
		if err := Bcast(c, data[:n], 0); err != nil {
			return err
		}
		data = data[n:]
	}
	return nil
}

// Exchange sends part r to rank r, of any length, and returns what each rank sent.
func Exchange[T Value](c Comm, parts [][]T) ([][]T, error) {
	sent, got := make([]uint64, c.Size()), make([]uint64, c.Size())
	for r, p := range parts {
		sent[r] = uint64(len(p))
	}
	ends := Ends[uint64](slices.Repeat([]int{1}, c.Size()))
	if err := c.AllToAll(memory.BytesOf(sent), ends, memory.BytesOf(got), ends); err != nil {
		return nil, err
	}
	all, received := cut[T](got)
	return received, c.AllToAll(memory.BytesOf(slices.Concat(parts...)), Ends[T](ints(sent)), memory.BytesOf(all), Ends[T](ints(got)))
}

// cut returns a slice of all counts together, and its parts.
func cut[T Value](counts []uint64) (all []T, parts [][]T) {
	sum := uint64(0)
	for _, n := range counts {
		sum += n
	}
	all = make([]T, sum)
	rest := all
	for _, n := range counts {
		parts = append(parts, rest[:n:n])
		rest = rest[n:]
	}
	return all, parts
}

func ints(x []uint64) []int {
	out := make([]int, len(x))
	for i, n := range x {
		out[i] = int(n)
	}
	return out
}

// A RankError is what went wrong on some ranks. All of them know it: none waits for another.
type RankError struct {
	Ranks []int
	Texts []string
	all   int   // ranks
	own   error // of this rank; may be nil
}

// Error names the ranks, unless all have the same error or rank 0 tells its own.
func (e *RankError) Error() string {
	same := len(slices.Compact(slices.Clone(e.Texts))) == 1
	if same && (len(e.Ranks) == e.all || e.Ranks[0] == 0 && len(e.Ranks) == 1) {
		return e.Texts[0]
	}
	var lines []string
	for i, rank := range e.Ranks {
		if i == 0 || e.Texts[i] != e.Texts[i-1] {
			lines = append(lines, fmt.Sprintf("rank %d: %s", rank, e.Texts[i]))
		}
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the error of this rank.
func (e *RankError) Unwrap() error { return e.own }

// Agree returns nil on all ranks if each brings nil. Otherwise the error on all is a
// [RankError], so that no rank waits for one that failed.
func Agree(c Comm, own error) error {
	text := ""
	if own != nil {
		text = cmp.Or(own.Error(), "error")
	}
	all, err := Collect(c, []byte(text))
	if err != nil {
		return errors.Join(own, err)
	}
	e := &RankError{all: len(all), own: own}
	for rank, text := range all {
		if len(text) > 0 {
			e.Ranks, e.Texts = append(e.Ranks, rank), append(e.Texts, string(text))
		}
	}
	if len(e.Ranks) == 0 {
		return nil
	}
	return e
}

// Same returns an error on all ranks that names those that bring another text than rank 0.
// what is the name of the text in the message.
func Same(c Comm, what, text string) error {
	all, err := Collect(c, []byte(text))
	if err != nil {
		return err
	}
	if string(all[0]) != text {
		err = fmt.Errorf("%s is %s, but on rank 0 it is %s", what, text, all[0])
	}
	return Agree(c, err)
}

// Stopped reports on all ranks whether the context of one has ended: whether it was told to stop.
func Stopped(ctx context.Context, c Comm) (bool, error) {
	own := uint64(0)
	if ctx.Err() != nil {
		own = 1
	}
	all, err := Each(c, own)
	return slices.Contains(all, 1), err
}
