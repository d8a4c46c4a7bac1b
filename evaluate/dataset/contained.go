package dataset

import (
	"cmp"
	"slices"
	"strings"
)

// Contained names sets that repeat a larger set of their task: of each, the larger set, which has more than half of its items. A set
// that repeats another is not itself taken for a larger one.
func Contained(sets []Set) map[string]string {
	type known struct {
		name, task string
		items      map[string]bool
	}
	var all, apart []known
	for _, s := range sets {
		all = append(all, known{s.Name, s.Task, s.items()})
	}
	slices.SortStableFunc(all, func(a, b known) int { return cmp.Compare(len(b.items), len(a.items)) })
	contained := map[string]string{}
	for _, s := range all {
		i := slices.IndexFunc(apart, func(larger known) bool { return larger.task == s.task && common(s.items, larger.items) > 0.5 })
		if i < 0 {
			apart = append(apart, s)
		} else {
			contained[s.name] = apart[i].name
		}
	}
	return contained
}

// common returns the fraction of the items that are also in others.
func common(items, others map[string]bool) float64 {
	both := 0
	for item := range items {
		if others[item] {
			both++
		}
	}
	return float64(both) / float64(max(len(items), 1))
}

// items returns what is asked in a set: its pairs whatever their order, its questions, or the members of its categories.
func (s *Set) items() map[string]bool {
	items := map[string]bool{}
	add := func(words ...string) { items[strings.ToLower(strings.Join(words, " "))] = true }
	for _, p := range s.Pairs {
		first, second := strings.ToLower(p.First), strings.ToLower(p.Second)
		add(min(first, second), max(first, second))
	}
	for _, m := range s.Members {
		add(m.Word, m.Category)
	}
	for _, section := range s.Sections {
		for _, q := range section.Questions {
			add(q.A, q.B, q.C, q.D)
		}
	}
	return items
}
