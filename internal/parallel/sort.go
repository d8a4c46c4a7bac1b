package parallel

import (
	"context"
	"slices"
)

// Sort sorts x on several goroutines: parts of it, which it then merges two by two. Equal values may change places.
func Sort[T any](ctx context.Context, threads int, x []T, compare func(a, b T) int) error {
	const least = 1 << 12 // values of a part
	threads = max(threads, 1)
	parts := 1
	for parts < threads && len(x)/(2*parts) >= least {
		parts *= 2
	}
	bound := func(part int) int { return len(x) * part / parts }
	if err := Do(ctx, threads, parts, func(k int) { slices.SortFunc(x[bound(k):bound(k+1)], compare) }); err != nil || parts == 1 {
		return err
	}
	from, to := x, make([]T, len(x))
	for size := 1; size < parts; size *= 2 {
		err := Do(ctx, threads, parts/(2*size), func(k int) {
			first, middle, end := bound(2*size*k), bound(2*size*k+size), bound(2*size*(k+1))
			merge(to[first:end], from[first:middle], from[middle:end], compare)
		})
		if err != nil {
			return err
		}
		from, to = to, from
	}
	copy(x, from)
	return nil
}

// merge merges two sorted lists into one.
func merge[T any](to, a, b []T, compare func(a, b T) int) {
	for len(a) > 0 && len(b) > 0 {
		if compare(b[0], a[0]) < 0 {
			to[0], b = b[0], b[1:]
		} else {
			to[0], a = a[0], a[1:]
		}
		to = to[1:]
	}
	copy(to[copy(to, a):], b)
}
