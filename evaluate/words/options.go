package words

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/w2vcl/w2vcl/evaluate"
	"github.com/w2vcl/w2vcl/evaluate/dataset"
)

// An OOV is a rule for pairs, questions and members of categories with an
// out-of-vocabulary word, which is not in the table.
type OOV string

const (
	// OOVSkip leaves the item out. The default.
	OOVSkip OOV = "skip"
	// OOVZero gives the word a vector of zeros: its cosine with any word is 0.
	// An analogy question counts as answered wrongly.
	OOVZero OOV = "zero"
	// OOVMean gives the word the mean of all vectors. An analogy question
	// counts as answered wrongly, as the answer must be a word.
	OOVMean OOV = "mean"
	// OOVCompose gives the word the vector that Options.Compose makes of its
	// spelling. Analogy questions and words of categories are left out, as with
	// OOVSkip: an answer must be a word of the table.
	OOVCompose OOV = "compose"
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
// ignores case, and takes all words, tasks and methods.
type Options struct {
	Lookup evaluate.LookupOptions
	// OOV, empty: OOVSkip.
	OOV OOV
	// Compose writes vectors of words that are not in the table, one after the
	// other, to dst; for OOVCompose. Where case is ignored, and the table has no
	// capital letters, words come in lower case.
	Compose func(words []string, dst []float32) error
	// Parts is how many known parts a word has. Items with a word of none are left out under OOVCompose. nil: all words have some.
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
	if o.OOV == "" {
		o.OOV = OOVSkip
	}
	if rules := []OOV{OOVSkip, OOVZero, OOVMean, OOVCompose}; !slices.Contains(rules, o.OOV) {
		return fmt.Errorf("unknown rule %q for words that are not in the table; use %s", o.OOV, join(rules))
	}
	if tasks := dataset.WordTasks(); o.Task != "" && !slices.Contains(tasks, o.Task) {
		return fmt.Errorf("unknown task %q; use %s", o.Task, join(tasks))
	}
	if o.OOV == OOVCompose && o.Compose == nil {
		return fmt.Errorf("rule %q needs vectors that come with an encoder", o.OOV)
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
