package sequential

import (
	"cmp"
	"fmt"
	"math/bits"
	"strings"
)

// This file joins what several trainers, each on a part of the text, did to copies of the same tables: ranks or GPUs. Each trains for a
// while from common rows; then the changes of every row are combined, the row moves by that, and all go on from there. It is plain
// Go: combine.cu of kernels/cuda/sentence has the same for GPUs.

// A Rule says by how much a row moves if trainers r = 0, 1, ... have moved their copies by d_r.
type Rule string

const (
	// Touched is the mean of d_r over the trainers that changed the row: a mean over all of them would slow rare words
	// down, which most parts of the text lack.
	Touched Rule = "touched"
	// Adasum adds what is orthogonal and averages what is parallel (Maleki et al. 2021), here for each row: d_0 and d_1
	// become (1 - d_0·d_1 / 2|d_0|²) d_0 + (1 - d_0·d_1 / 2|d_1|²) d_1, then the same is done to pairs of the results.
	Adasum Rule = "adasum"
	// Mean is the mean over all trainers (BlazingText, Gupta and Khare 2017; pWord2Vec, Ji et al. 2016).
	Mean Rule = "mean"
	// Sum adds the changes, as trainers of one table do.
	Sum Rule = "sum"
)

// A RuleDescriptor is a rule with a few words for help.
type RuleDescriptor struct {
	Name Rule
	Help string
}

// Rules returns all rules, in the order of their numbers in kernels.
func Rules() []RuleDescriptor {
	return []RuleDescriptor{
		{Touched, "the mean over those that changed the row"},
		{Adasum, "the sum of what is orthogonal, the mean of what is parallel"},
		{Mean, "the mean over all, as published for BlazingText and pWord2Vec"},
		{Sum, "the sum"},
	}
}

// Number returns a rule's number in kernels. The error of an unknown rule lists them all.
func (r Rule) Number() (int, error) {
	var known []string
	for i, d := range Rules() {
		if d.Name == r {
			return i, nil
		}
		known = append(known, string(d.Name))
	}
	return 0, fmt.Errorf("rule of combination %q is unknown; it is one of %s", r, strings.Join(known, ", "))
}

// Sync says how often tables are combined, and how.
type Sync struct {
	Rule     Rule // "": DefaultRule
	Words    int  // words of the text, of all trainers together, from one combination of all rows to the next; 0: as many as WithDefaults says. At the end of an epoch there is one anyway.
	HotWords int  // the same for the Hot most frequent words alone; 0: they come with all others
	Hot      int
	Doubles  bool // sub-model synchronisation, see HotRows
}

// HotRows returns how many of the most frequent words have their rows combined if the combinations of hot rows after
// number before, up to number after, fall together: Hot. With Doubles, every second combination has twice as many rows,
// every fourth four times as many, and so on, as in the program published for pWord2Vec (Ji et al. 2016, section III-E).
func (o Sync) HotRows(before, after int) int {
	if after <= before {
		return 0
	}
	if !o.Doubles {
		return o.Hot
	}
	// The number that can be halved most often has all bits below the highest one that changes set to 0.
	low := bits.Len(uint(before^after)) - 1
	return o.Hot << min(bits.TrailingZeros(uint(after>>low<<low)), mostDoublings)
}

// mostDoublings keeps HotRows within an int. More rows than a table has are all of its rows.
const mostDoublings = 30

// DefaultRule is the rule of a Sync without one: with 20 epochs or a long text it scores as one trainer does, with few
// epochs it loses least of those that do not diverge (benchmarks/devices).
const DefaultRule = Adasum

// WithDefaults returns the options with zero values replaced, for a text of so many words and so many epochs.
func (o Sync) WithDefaults(words, epochs int) Sync {
	const (
		ofRun = 128     // combinations at least
		most  = 1 << 24 // words between two
	)
	o.Rule = cmp.Or(o.Rule, DefaultRule)
	o.Words = cmp.Or(o.Words, min(max(words/ofRun*epochs, 1), most))
	return o
}

// negligible is what a change has, relative to its row, that rounding may have left. It counts as none.
const negligible = 1.0 / (1 << 21)

// cancelled is the part of the squares of changes below which their sum has no direction: rounding is as large.
const cancelled = 1.0 / (1 << 17)

// Combine moves a row by the combination of its changes, one for each trainer in their order; nil is that of a trainer which
// did not change it.
func Combine(rule Rule, row []float32, changes [][]float32) {
	trainers := len(changes)
	dots, part := make([]float64, trainers*trainers), make([]float32, trainers)
	for p, d := range changes {
		for q, e := range changes[:p+1] {
			dots[p*trainers+q] = dot(d, e)
			dots[q*trainers+p] = dots[p*trainers+q]
		}
	}
	CombineParts(part, rule, dots, dot(row, row))
	for i := range row {
		sum := float32(0)
		for r, d := range changes {
			if d != nil {
				sum += part[r] * d[i]
			}
		}
		row[i] += sum
	}
}

// CombineParts returns of each trainer's change the part by which the row moves. dots has the dot products of all changes, (R, R),
// and norm that of the row with itself.
func CombineParts(part []float32, rule Rule, dots []float64, norm float64) {
	trainers, touched := len(part), 0
	for r := range part {
		part[r] = 0
		if dots[r*trainers+r] > negligible*negligible*norm {
			part[r] = 1
			touched++
		}
	}
	switch rule {
	case Touched:
		for r := range part {
			part[r] /= float32(max(touched, 1))
		}
	case Mean:
		for r := range part {
			part[r] = 1 / float32(trainers)
		}
	case Adasum:
		for size := 1; size < trainers; size *= 2 {
			for first := 0; first+size < trainers; first += 2 * size {
				join(part, dots, first, first+size, min(first+2*size, trainers))
			}
		}
	}
}

// join joins the changes of trainers a ... b-1, which are joined already, with those of b ... end-1.
func join(part []float32, dots []float64, a, b, end int) {
	between := func(first, last, from, to int) (sum float64) {
		for p := first; p < last; p++ {
			for q := from; q < to; q++ {
				sum += float64(part[p]) * float64(part[q]) * dots[p*len(part)+q]
			}
		}
		return sum
	}
	both := between(a, b, b, end)
	factor := func(first, last int) float32 {
		norm, parts := between(first, last, first, last), 0.0
		for r := first; r < last; r++ {
			parts += between(r, r+1, r, r+1)
		}
		if norm <= cancelled*parts {
			return 1
		}
		return float32(1 - both/(2*norm))
	}
	left, right := factor(a, b), factor(b, end)
	for r := a; r < b; r++ {
		part[r] *= left
	}
	for r := b; r < end; r++ {
		part[r] *= right
	}
}

// dot is 0 if one of the two is nil.
func dot(a, b []float32) (sum float64) {
	for i := range min(len(a), len(b)) {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}
