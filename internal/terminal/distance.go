package terminal

import (
	"cmp"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// EditDistance counts the typing errors that turn a into b: letters inserted,
// left out or exchanged, and neighbours swapped (optimal string alignment).
func EditDistance(a, b string) int {
	x, y := []rune(a), []rune(b)
	// Rows i-2, i-1 and i of the table of distances between prefixes.
	beforeLast, last, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(x); i++ {
		row[0] = i
		for j := 1; j <= len(y); j++ {
			exchange := last[j-1]
			if x[i-1] != y[j-1] {
				exchange++
			}
			row[j] = min(last[j]+1, row[j-1]+1, exchange)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], beforeLast[j-2]+1)
			}
		}
		beforeLast, last, row = last, row, beforeLast
	}
	return last[len(y)]
}

// Nearest returns the known name that a person who typed name most likely meant, for
// "did you mean": the one with the fewest typing errors, the first of equals. It
// returns "" if every known name is more than 2 errors, or a third of the letters,
// away.
func Nearest(name string, known iter.Seq[string]) string {
	best, least := "", max(2, len(name)/3)+1
	for k := range known {
		if d := EditDistance(name, k); d < least {
			best, least = k, d
		}
	}
	return best
}

// Folded returns a name without what people write in different ways.
func Folded(name string) string { return separators.Replace(strings.ToLower(name)) }

var separators = strings.NewReplacer("-", "", "_", "", " ", "")

// Meant returns the name that a text is a way of writing, or a typing error away from; "" if there is none.
func Meant(text string, names []string) string {
	for _, name := range names {
		if Folded(name) == Folded(text) {
			return name
		}
	}
	return Nearest(strings.ToLower(text), slices.Values(names))
}

// DidYouMean ends a message about a value that is none of the names.
func DidYouMean(text string, names []string) string {
	if near := Meant(text, names); near != "" {
		return "; did you mean " + near + "?"
	}
	return ""
}

// NearestFile ends a message about a path that does not exist: it names the file of that folder that was probably meant.
func NearestFile(path string) string {
	folder, name := filepath.Split(path)
	switch {
	case strings.Contains(path, "://"):
		return "; download it first"
	case strings.ContainsAny(name, "*?"):
		return "; the shell found no file that this pattern fits"
	}
	entries, err := os.ReadDir(cmp.Or(folder, "."))
	if err != nil || len(name) < 4 {
		return ""
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	if near := Nearest(name, slices.Values(names)); near != "" {
		return "; did you mean " + folder + near + "?"
	}
	return ""
}
