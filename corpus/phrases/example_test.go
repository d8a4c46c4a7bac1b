package phrases_test

import (
	"fmt"
	"strings"

	"github.com/w2vcl/w2vcl/corpus/phrases"
)

func Example() {
	learner, err := phrases.NewLearner(phrases.Options{Threshold: 1, MinCount: 1})
	if err != nil {
		panic(err)
	}
	for _, line := range []string{"the new york times said", "a new york note", "he said a note"} {
		learner.Add(strings.Fields(line))
	}
	list := phrases.List{learner.Pass()}
	fmt.Println(strings.Join(phrases.NewJoiner(list).Join(strings.Fields("with new york times")), " "))
	// Output: with new_york times
}
