package sentences

import "strings"

// other is the label of sentences without one of the relations.
const other = "Other"

// relationF1 is the score of SemEval-2010 task 8: the mean of F1 over the relations, but Other. A
// relation, Cause-Effect, is a label in two directions, Cause-Effect(e1,e2) and (e2,e1); an answer
// is right in the right direction only. labels are those of the classes. A relation that is neither
// asked for nor answered does not count.
func relationF1(labels []string, found, want []int) float64 {
	type tally struct{ right, found, want float64 }
	tallies := map[string]*tally{}
	var relations []string // in the order in which they come
	of := func(class int) *tally {
		relation, _, _ := strings.Cut(labels[class], "(")
		if tallies[relation] == nil {
			tallies[relation] = new(tally)
			if relation != other {
				relations = append(relations, relation)
			}
		}
		return tallies[relation]
	}
	for i, class := range want {
		of(class).want++
		of(found[i]).found++
		if found[i] == class {
			of(class).right++
		}
	}
	sum := 0.0
	for _, relation := range relations {
		t := tallies[relation]
		sum += 2 * t.right / (t.found + t.want)
	}
	return sum / max(float64(len(relations)), 1)
}
