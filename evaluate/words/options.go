package words

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/w2vcl/w2vcl/evaluate/dataset"
)

// A Method answers analogy questions "a is to b as c is to ?".
type Method string

const (
	// CosAdd chooses the word x of largest cos(x,b) - cos(x,a) + cos(x,c).
	CosAdd Method = "3cosadd"
	// CosMul chooses the word x of largest cos'(x,b)·cos'(x,c)/(cos'(x,a)+0.001)
	// with cos' = (cos+1)/2 (Levy and Goldberg 2014).
	CosMul Method = "3cosmul"
	// LRCos learns from the other pairs of the section which words can be an
	// answer, and chooses the word x of largest P(x is an answer)·cos(x,c)
	// (Drozd, Gladkova and Matsuoka 2016, see lrcos.go). Its items are the
	// distinct pairs of a section, not the questions.
	LRCos Method = "lrcos"
)

// Options say how to score. The zero value leaves out items with unknown words,
// and takes all words, tasks and methods.
type Options struct {
	// Restrict is how many words of the table count; 0: all. See [evaluate.NewLookup].
	Restrict int
	// Compose writes vectors of words that are not in the table, one after the
	// other, to dst, for pairs of similarity. Where the table has no
	// capital letters, words come in lower case. nil: their pairs are left out.
	Compose func(words []string, dst []float32) error
	// Parts is how many known parts a word has. Pairs with a word of none are left out. nil: all words have some.
	Parts func(word string) int
	// Source names Compose in results.
	Source string
	// Task is the only task to score; empty: similarity, analogy and
	// categorization.
	Task string
	// Sets are those of the folder if they were read before, by ReadSets; nil: they are read.
	Sets *Sets
	// Methods for analogies, empty: all.
	Methods []Method
	// Threads that questions of analogies are answered on; 0: all processors.
	Threads int
	// Sections adds a result for every section of an analogy set.
	Sections bool
	// Progress, if not nil, is called before each set, and at the end.
	Progress func(dataset string, done, total int)
}

func (o *Options) threads() int { return cmp.Or(o.Threads, runtime.GOMAXPROCS(0)) }

// check fills in the defaults and refuses what is unknown.
func (o *Options) check() error {
	if tasks := dataset.WordTasks(); o.Task != "" && !slices.Contains(tasks, o.Task) {
		return fmt.Errorf("unknown task %q; use %s", o.Task, join(tasks))
	}
	all := []Method{CosAdd, CosMul, LRCos}
	if len(o.Methods) == 0 {
		o.Methods = all
	}
	for i, m := range o.Methods {
		if slices.Contains(o.Methods[:i], m) {
			return fmt.Errorf("analogy method %s is given twice", m)
		}
		if !slices.Contains(all, m) {
			return fmt.Errorf("unknown analogy method %q; use %s", m, join(all))
		}
	}
	return nil
}

func join[S ~string](names []S) string {
	var list []string
	for _, n := range names {
		list = append(list, string(n))
	}
	return strings.Join(list, ", ")
}
