package cli

import "strings"

// Enumerate writes a list for people: "a, b and c".
func Enumerate(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// Texts returns the text of each element of a list.
func Texts[T any, S ~string](list []T, text func(T) S) []S {
	out := make([]S, len(list))
	for i, x := range list {
		out[i] = text(x)
	}
	return out
}
