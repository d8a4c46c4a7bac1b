package trainer

import "testing"

func TestBudgetTexts(t *testing.T) {
	for text, want := range map[string]Budget{
		"": {}, "60s": {BudgetSeconds, 60}, "1.5m": {BudgetSeconds, 90}, "2e9pairs": {BudgetPairs, 2e9}, "500 words": {BudgetWords, 500},
	} {
		var b, again Budget
		if err := b.UnmarshalText([]byte(text)); err != nil || b != want {
			t.Errorf("%q is %+v (%v), want %+v", text, b, err, want)
		}
		if err := again.UnmarshalText([]byte(b.String())); err != nil || again != b {
			t.Errorf("%q is written as %q, which is %+v (%v)", text, b.String(), again, err)
		}
	}
	for _, text := range []string{"60", "s", "-1s", "0s", "pairs", "0pairs", "-3words", "NaNpairs", "1e400words", "5 epochs"} {
		if err := new(Budget).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is a budget", text)
		}
	}
}
