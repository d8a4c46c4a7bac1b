package compare

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/w2vcl/w2vcl/settings"
	"github.com/w2vcl/w2vcl/train"
)

// A Budget says how long every mode trains. The zero Budget is each recipe's
// own length.
type Budget struct {
	Kind   string  // one of the Budget constants
	Amount float64 // 0 with BudgetRecipe
}

// Kinds of budgets.
const (
	// BudgetRecipe trains as long as the recipe of each mode says.
	BudgetRecipe = "recipe"
	// BudgetEpochs is passes: over the text, or in mode cl over M's columns.
	BudgetEpochs = "epochs"
	// BudgetIterations is iterations of mode cl; the other modes train as many
	// pairs as these have.
	BudgetIterations = "iterations"
	// BudgetSeconds is seconds of training.
	BudgetSeconds = "seconds"
)

// endless is how many epochs a mode gets that a limit will end, and
// endlessIterations the same in mode cl.
const (
	endless           = 1 << 14
	endlessIterations = 1 << 28
)

// ParseBudget reads "recipe", "epochs=5", "iterations=8192" or "seconds=60".
func ParseBudget(text string) (Budget, error) {
	if text == "" || text == BudgetRecipe {
		return Budget{Kind: BudgetRecipe}, nil
	}
	kind, number, _ := strings.Cut(text, "=")
	amount, err := strconv.ParseFloat(number, 64)
	whole := amount == float64(int32(amount))
	switch {
	case err != nil || !(amount > 0) || amount > 1e9:
	case kind == BudgetSeconds, (kind == BudgetEpochs || kind == BudgetIterations) && whole:
		return Budget{kind, amount}, nil
	}
	return Budget{}, fmt.Errorf("%q is no budget: give recipe, epochs=N, iterations=N or seconds=N", text)
}

func (b Budget) String() string {
	if b.Kind == "" || b.Kind == BudgetRecipe {
		return BudgetRecipe
	}
	return fmt.Sprintf("%s=%s", b.Kind, strconv.FormatFloat(b.Amount, 'f', -1, 64))
}

// Explain says in a sentence what the budget means.
func (b Budget) Explain() string {
	amount := strconv.FormatFloat(b.Amount, 'f', -1, 64)
	switch b.Kind {
	case BudgetEpochs:
		return "epochs of each: " + amount + ", which are passes over the text, in mode cl over the columns of M"
	case BudgetIterations:
		return "iterations of mode cl: " + amount + "; every other mode trains as many pairs as these have"
	case BudgetSeconds:
		return "seconds of training of each: " + amount + "; reading the text and building M are not in them"
	default:
		return "each mode trains as long as its own recipe says"
	}
}

// apply sets how long a mode trains.
func (b Budget) apply(mode string, texts map[string]string) {
	cl := mode == settings.ModeCL
	amount := strconv.FormatFloat(b.Amount, 'f', 0, 64)
	switch b.Kind {
	case BudgetEpochs:
		texts["epochs"] = amount
	case BudgetIterations:
		if cl {
			texts["iterations"] = amount
		} else {
			texts["epochs"] = strconv.Itoa(endless)
		}
	case BudgetSeconds:
		if cl {
			texts["iterations"] = strconv.Itoa(endlessIterations)
		} else {
			texts["epochs"] = strconv.Itoa(endless)
		}
	}
}

// limit returns what ends a run of a mode on a vocabulary of so many words.
func (b Budget) limit(c settings.Config, words int) train.Limit {
	switch {
	case b.Kind == BudgetSeconds:
		return train.Limit{Seconds: b.Amount}
	case b.Kind == BudgetIterations && c.Mode != settings.ModeCL:
		return train.Limit{Pairs: b.Amount * 2 * float64(words) * float64(1+c.Negative)}
	default:
		return train.Limit{}
	}
}
