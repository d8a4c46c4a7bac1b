package experiment

import (
	"fmt"
	"math"
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
	// BudgetEpochs counts passes: over the text, or over M in mode cl. With model cbow mode cl has no
	// epochs, and trains as long as its recipe says.
	BudgetEpochs = "epochs"
	// BudgetIterations counts iterations of mode cl. The other modes train about as
	// many pairs as these iterations have.
	BudgetIterations = "iterations"
	// BudgetSeconds counts seconds of training.
	BudgetSeconds = "seconds"
)

// A run that its budget ends has more epochs or iterations than the budget allows.
const (
	endlessEpochs     = 1 << 14
	endlessIterations = 1 << 28 // of a mode that counts iterations
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
		return amount + " epochs of each mode, which are passes over the text, or over M in mode cl; with --model cbow " +
			"that has no epochs, and trains as many iterations as its recipe says"
	case BudgetIterations:
		return amount + " iterations of mode cl, and about as many pairs of every other mode as these iterations have"
	case BudgetSeconds:
		return amount + " seconds of training for each mode, without the time to read the text and to build M"
	default:
		return "each mode trains as long as its own recipe says"
	}
}

// countsIterations reports whether a mode trains iterations, not passes over the text.
func countsIterations(mode string) bool { return mode == settings.ModeCL }

// apply sets how long a mode trains with a model.
func (b Budget) apply(mode, model string, texts map[string]string) {
	amount := strconv.FormatFloat(b.Amount, 'f', 0, 64)
	iterations := countsIterations(mode)
	switch {
	case b.Kind == BudgetEpochs && iterations && model == settings.ModelCBOW:
	case b.Kind == BudgetEpochs:
		texts["epochs"] = amount
	case b.Kind == BudgetIterations && iterations:
		texts["iterations"] = amount
	case b.Kind == BudgetSeconds && iterations:
		texts["iterations"] = strconv.Itoa(endlessIterations)
	case b.Kind == BudgetIterations, b.Kind == BudgetSeconds:
		texts["epochs"] = strconv.Itoa(endlessEpochs)
	}
}

// Limit returns what ends a run of a mode on a vocabulary of the given size.
// samples are those of an iteration of mode cl, see [Options.Samples].
func (b Budget) Limit(c settings.Config, vocabulary int, samples float64) train.Limit {
	switch {
	case b.Kind == BudgetSeconds:
		return train.Limit{Seconds: b.Amount}
	case b.Kind == BudgetIterations && !countsIterations(c.Mode):
		targets := float64(1 + c.Negative)
		if c.HierarchicalSoftmax { // about as many as a path has nodes
			targets = math.Log2(float64(max(vocabulary, 2)))
		}
		return train.Limit{Pairs: b.Amount * 2 * samples * targets}
	default:
		return train.Limit{}
	}
}

// UntilItEnds reports whether a setting of a run says that its budget ends it.
func UntilItEnds(setting, value string) bool {
	switch setting {
	case "epochs":
		return value == strconv.Itoa(endlessEpochs)
	case "iterations":
		return value == strconv.Itoa(endlessIterations)
	default:
		return false
	}
}
