package phrases_test

import (
	"fmt"
	"strings"

	"github.com/w2vcl/w2vcl/corpus/phrases"
)

func Example() {
	learner, err := phrases.NewLearner(phrases.Options{
		Scorer: phrases.Scorers()[0], Threshold: 1, MinCount: 1, Delimiter: "_", Common: strings.Fields(phrases.English),
	})
	if err != nil {
		panic(err)
	}
	for _, line := range []string{"the bank of england said", "a bank of england note", "he said a note"} {
		learner.Add(strings.Fields(line))
	}
	list := phrases.List{Delimiter: "_", Common: strings.Fields(phrases.English), Passes: []phrases.Pass{learner.Pass()}}
	fmt.Println(strings.Join(phrases.NewJoiner(list).Join(strings.Fields("with the bank of england")), " "))
	// Output: with the bank_of_england
}
