package trainer

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
)

// A Budget says how long to train: seconds, pairs or words. The zero Budget is none. Package
// settings turns one into epochs or iterations. Seconds include those of building M.
//
// Words and pairs mean the same in all modes, so that modes can be compared:
//
//   - A word is a running word of the text that is in the vocabulary, before subsampling; an epoch
//     of a text with n of them has n words. An iteration of mode cl with model sg reads no text: it
//     stands for n / Contexts words, because Contexts iterations train what the text holds.
//     With model cbow it has the words of its stretch, those that subsampling left out included.
//   - A pair is one dot product of a row of W, or of a mean of such rows, and a row of C, with its
//     update; positive and negative pairs count alike. Skip-gram in the order of sentences has 1 + K pairs for each
//     context word, or the nodes of a path with hierarchical softmax; CBOW has 1 + K for each window. Algorithms
//     that share negatives in a window or a batch count each product with each of them.
//     Mode cl trains W and C one after the other, so an iteration has 2 (1 + K) pairs for each sample
//     (model sg), or for each place in the stretch (model cbow, whose samples are windows): K of
//     each, however many shared negatives stand for these K. An epoch of glove has 2 pairs for
//     each count, one for each of its words.
type Budget struct {
	Kind   BudgetKind
	Amount float64
}

// A BudgetKind is what a budget counts.
type BudgetKind string

// Kinds of budgets.
const (
	BudgetSeconds BudgetKind = "seconds"
	BudgetPairs   BudgetKind = "pairs"
	BudgetWords   BudgetKind = "words"
)

// UnmarshalText reads 60s, 10m, 2e9pairs or 5e8words. The empty text is the zero Budget.
func (b *Budget) UnmarshalText(text []byte) error {
	bad := errors.New("give a time (60s, 10m), a number of pairs (2e9pairs) or of words (5e8words)")
	trimmed := strings.TrimSpace(string(text))
	if trimmed == "" {
		*b = Budget{}
		return nil
	}
	read := Budget{Kind: BudgetSeconds}
	for _, kind := range []BudgetKind{BudgetPairs, BudgetWords} {
		if number, ok := strings.CutSuffix(trimmed, string(kind)); ok {
			read.Kind = kind
			amount, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
			if err != nil {
				return bad
			}
			read.Amount = amount
		}
	}
	if read.Kind == BudgetSeconds {
		d, err := time.ParseDuration(trimmed)
		if err != nil {
			return bad
		}
		read.Amount = d.Seconds()
	}
	if !(read.Amount > 0) || math.IsInf(read.Amount, 0) {
		return bad
	}
	*b = read
	return nil
}

// String returns a text that UnmarshalText reads.
func (b Budget) String() string {
	switch b.Kind {
	case "":
		return ""
	case BudgetSeconds:
		return strconv.FormatFloat(b.Amount, 'g', -1, 64) + "s"
	default:
		return strconv.FormatFloat(b.Amount, 'g', -1, 64) + string(b.Kind)
	}
}
