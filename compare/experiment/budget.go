package experiment

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/train/runfolder"
	"github.com/w2vcl/w2vcl/train/settings"
	"github.com/w2vcl/w2vcl/train/trainer"
)

// A Budget says how long the variants train. An amount of 0 is what the first run took: the first variant
// trains as long as its recipe says, and then each other run as long. The zero Budget is the length of
// each recipe.
type Budget struct {
	Kind   string // one of the Budget constants
	Amount float64
}

// Kinds of budgets. [trainer.Budget] says what words and pairs are.
const (
	// BudgetRecipe trains as long as the recipe of each mode says.
	BudgetRecipe = "recipe"
	// BudgetEpochs counts passes over the text, or over M in mode cl with model sg.
	BudgetEpochs = "epochs"
	// BudgetIterations counts iterations of mode cl. The other modes train about as
	// many pairs as these iterations have.
	BudgetIterations = "iterations"
	// BudgetSeconds counts seconds of building M and training.
	BudgetSeconds = "seconds"
	BudgetPairs   = "pairs"
	BudgetWords   = "words"
)

// Equals lists the budgets that follow the first run, for people.
var Equals = []string{BudgetSeconds, BudgetPairs, BudgetEpochs}

// equalPrefix begins the texts of budgets that follow the first run.
const equalPrefix = "equal "

// ParseEqual reads one of Equals.
func ParseEqual(text string) (Budget, error) {
	if slices.Contains(Equals, text) {
		return Budget{Kind: text}, nil
	}
	return Budget{}, fmt.Errorf("%q is none of %s", text, strings.Join(Equals, ", "))
}

// ParseBudget reads "recipe", "epochs=5", "iterations=8192", and what [trainer.Budget] reads, as in "60s", "2e9pairs"
// or "5e8words". The empty text is the zero Budget.
func ParseBudget(text string) (Budget, error) {
	if text == "" || text == BudgetRecipe {
		return Budget{Kind: BudgetRecipe}, nil
	}
	if kind, ok := strings.CutPrefix(text, equalPrefix); ok {
		return ParseEqual(kind)
	}
	var plain trainer.Budget
	if plain.UnmarshalText([]byte(text)) == nil {
		return Budget{string(plain.Kind), plain.Amount}, nil
	}
	kind, number, _ := strings.Cut(text, "=")
	amount, err := strconv.ParseUint(number, 10, 31)
	if err == nil && amount > 0 && (kind == BudgetEpochs || kind == BudgetIterations) {
		return Budget{kind, float64(amount)}, nil
	}
	return Budget{}, fmt.Errorf("%q is not a budget: give recipe, a time (60s, 10m), 2e9pairs, 5e8words, epochs=N or iterations=N", text)
}

func (b Budget) String() string {
	switch {
	case b.Kind == "" || b.Kind == BudgetRecipe:
		return BudgetRecipe
	case b.Amount == 0:
		return equalPrefix + b.Kind
	case b.Kind == BudgetEpochs || b.Kind == BudgetIterations:
		return fmt.Sprintf("%s=%.0f", b.Kind, b.Amount)
	default:
		return trainer.Budget{Kind: trainer.BudgetKind(b.Kind), Amount: b.Amount}.String()
	}
}

// IsEqual reports whether the first run sets the budget of the others.
func (b Budget) IsEqual() bool { return b.Amount == 0 && b.Kind != "" && b.Kind != BudgetRecipe }

// Explain says in a sentence what the budget means.
func (b Budget) Explain() string {
	const measured = "How much a variant trains in this time was measured once, in processor time. All its seeds train as much; on processors, so does the same command later"
	amount := strconv.FormatFloat(b.Amount, 'f', -1, 64)
	switch {
	case b.IsEqual() && b.Kind == BudgetSeconds:
		return "seconds: the first variant trains as long as its recipe says, and each other run as many seconds, with building the matrix. " + measured
	case b.IsEqual() && b.Kind == BudgetPairs:
		return "pairs: the first variant trains as long as its recipe says, and each other run on as many pairs"
	case b.IsEqual():
		return "epochs: the first variant trains as long as its recipe says, and each other run on as many words of the text"
	case b.Kind == BudgetEpochs:
		return terminal.Quantity(amount, "epoch") + " of each mode, which are passes over the text, or over M in mode cl with --model sg"
	case b.Kind == BudgetIterations:
		return terminal.Quantity(amount, "iteration") + " of mode cl, and about as many pairs of every other mode as these iterations have"
	case b.Kind == BudgetSeconds:
		return terminal.Quantity(amount, "second") + " of building the matrix and training for each run, without the time to read the text. " + measured
	case b.Kind == BudgetPairs, b.Kind == BudgetWords:
		return terminal.Number(int64(b.Amount)) + " " + b.Kind + " for each run"
	default:
		return "nothing; each mode trains as long as its own recipe says"
	}
}

// Brief says in a few words what runs have as much of.
func (b Budget) Brief() string {
	amount := strconv.FormatFloat(b.Amount, 'f', -1, 64)
	switch {
	case b.IsEqual():
		return equalPrefix + b.Kind
	case b.Kind == BudgetIterations:
		return amount + " iterations of cl, or as many pairs"
	case b.Kind == BudgetRecipe || b.Kind == "":
		return "as much training as each recipe says"
	case b.Kind == BudgetPairs, b.Kind == BudgetWords:
		return terminal.Number(int64(b.Amount)) + " " + b.Kind + " each"
	default:
		return terminal.Quantity(amount, strings.TrimSuffix(b.Kind, "s")) + " each"
	}
}

// countsIterations reports whether a mode trains iterations, not passes over the text.
func countsIterations(mode string) bool { return mode == settings.ModeCL }

// hasBudget reports whether a mode can train longer or shorter.
func hasBudget(mode string) bool {
	s, ok := settings.Find("budget")
	return ok && s.AppliesTo(mode)
}

// apply sets how long a mode trains, as far as that is known before the text is read and the
// first run is trained.
func (b Budget) apply(mode string, texts map[string]string) {
	amount := strconv.FormatFloat(b.Amount, 'f', 0, 64)
	switch {
	case b.Amount == 0 || !hasBudget(mode):
	case b.Kind == BudgetEpochs:
		texts["epochs"] = amount
	case b.Kind == BudgetIterations && countsIterations(mode):
		texts["iterations"] = amount
	case b.Kind == BudgetSeconds, b.Kind == BudgetPairs, b.Kind == BudgetWords:
		texts["budget"] = trainer.Budget{Kind: trainer.BudgetKind(b.Kind), Amount: b.Amount}.String()
	}
}

// asLong returns the budget of a run that trains as many pairs or words as another did.
func (b Budget) asLong(s runfolder.Summary) trainer.Budget {
	switch b.Kind {
	case BudgetPairs:
		return trainer.Budget{Kind: trainer.BudgetPairs, Amount: s.PairsPerSecond * s.SecondsTrain}
	default:
		return trainer.Budget{Kind: trainer.BudgetWords, Amount: float64(s.TrainWords) * s.Epochs}
	}
}

// lengths are the settings of a variant that say how long it trains.
var lengths = []string{"epochs", "iterations", "budget"}

// SaysLength reports whether a variant says how long it trains, so that no other run does.
func (o Options) SaysLength(v Variant) bool {
	return slices.ContainsFunc(lengths, func(name string) bool {
		_, own := v.Own[name]
		_, shared := o.Settings[name]
		s, _ := settings.Find(name)
		return own || shared && o.applies(s, v)
	})
}

// Follows reports whether a run trains as long as the first one, or as iterations of mode cl,
// so that [Options.BudgetOf] has its budget.
func (o Options) Follows(r Run) bool {
	switch {
	case !hasBudget(r.Mode) || o.SaysLength(r.Variant):
		return false
	case o.Budget.Kind == BudgetIterations:
		return !countsIterations(r.Mode)
	default:
		return o.Budget.IsEqual() && r.Name != o.All()[0].Name
	}
}

// BudgetOf returns the budget of a run that follows. first is the summary of the first run, and an iteration of
// mode cl has iterationPairs, see [Options.IterationPairs].
func (o Options) BudgetOf(first runfolder.Summary, iterationPairs float64) trainer.Budget {
	if o.Budget.Kind == BudgetIterations {
		return trainer.Budget{Kind: trainer.BudgetPairs, Amount: o.Budget.Amount * iterationPairs}
	}
	return o.Budget.asLong(first)
}
