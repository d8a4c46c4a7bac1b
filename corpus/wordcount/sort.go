package wordcount

import (
	"context"
	"slices"

	"github.com/w2vcl/w2vcl/internal/parallel"
)

// sortedEntries merges the sorted words of all parts. Each goroutine merges the
// words between two pivots, which are taken at even steps of all lists.
func sortedEntries(ctx context.Context, parts []partition, threads int) ([]entry, error) {
	const perList = 32
	var pivots []entry
	total := 0
	for _, p := range parts {
		total += len(p.kept)
		for k := range min(perList, len(p.kept)) {
			pivots = append(pivots, p.kept[k*len(p.kept)/perList])
		}
	}
	slices.SortFunc(pivots, compareEntries)
	ranges := min(threads, len(pivots)+1)
	// Range r has the words bounds[r][p] ... bounds[r+1][p]-1 of part p.
	bounds := make([][]int, ranges+1)
	for r := range bounds {
		bounds[r] = make([]int, len(parts))
		for p := range parts {
			switch {
			case r == ranges:
				bounds[r][p] = len(parts[p].kept)
			case r > 0:
				bounds[r][p], _ = slices.BinarySearchFunc(parts[p].kept, pivots[r*len(pivots)/ranges], compareEntries)
			}
		}
	}
	sorted := make([]entry, total)
	err := parallel.Do(ctx, threads, ranges, func(r int) {
		var lists [][]entry
		start := 0
		for p := range parts {
			lists = append(lists, parts[p].kept[bounds[r][p]:bounds[r+1][p]])
			start += bounds[r][p]
		}
		copy(sorted[start:], mergeLists(lists))
	})
	return sorted, err
}

// mergeLists merges sorted lists, two at a time.
func mergeLists(lists [][]entry) []entry {
	for len(lists) > 1 {
		lists = append(lists[2:], mergeSorted(lists[0], lists[1]))
	}
	return lists[0]
}

// mergeSorted merges two sorted lists.
func mergeSorted(a, b []entry) []entry {
	merged := make([]entry, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if compareEntries(a[0], b[0]) < 0 {
			merged, a = append(merged, a[0]), a[1:]
		} else {
			merged, b = append(merged, b[0]), b[1:]
		}
	}
	return append(append(merged, a...), b...)
}
