package evaluate

import (
	"fmt"
	"slices"
	"strings"
)

// A dataset is a file that can be scored, as read. It has the items of its task.
type dataset struct {
	path string
	task string
	name string

	pairs    []pair    // of similarity
	members  []member  // of categorization
	sections []section // of analogy
}

func readDataset(path, task string) (d dataset, err error) {
	d = dataset{path: path, task: task}
	switch task {
	case TaskSimilarity:
		d.pairs, err = readSimilarity(path)
	case TaskCategorization:
		d.members, err = readCategories(path)
	default:
		d.sections, err = readAnalogies(path)
	}
	return d, err
}

// content tells sets apart by their items, whatever the order and the format of
// the file: collections often have a set in two formats, and counted twice it
// would weigh twice in a mean.
func (d *dataset) content() string {
	var items []string
	for _, p := range d.pairs {
		items = append(items, fmt.Sprintf("%q %q %g", p.first, p.second, p.score))
	}
	for _, m := range d.members {
		items = append(items, fmt.Sprintf("%q %q", m.word, m.category))
	}
	for _, s := range d.sections {
		for _, q := range s.questions {
			items = append(items, fmt.Sprintf("%q %q", s.name, q))
		}
	}
	slices.Sort(items)
	return d.task + strings.Join(items, "\n")
}
