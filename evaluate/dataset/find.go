package dataset

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/w2vcl/w2vcl/evaluate"
	"github.com/w2vcl/w2vcl/internal/memory"
)

// A Set is a data set as read from a file. It has the items of its task.
type Set struct {
	Path string
	Task string
	Name string // as the field calls it: "WS-353"

	Pairs     []Pair     // of similarity
	Members   []Member   // of categorization
	Sections  []Section  // of analogy
	Sentences []Sentence // of classification, see FindSentences
}

// WordTasks are the tasks of the sets that [Find] finds.
func WordTasks() []string {
	return []string{evaluate.TaskSimilarity, evaluate.TaskAnalogy, evaluate.TaskCategorization}
}

// Find reads the sets of words of a task (empty: of all tasks) in a folder and all
// folders in it, or the one set that path is. It tells sets from other files by
// their content. Two files with the same items are one set, under the name that the
// field uses if one of the files has it. Notes say which files are passed over.
//
// Errors: no set, a bad line in a set (with file and line).
func Find(ctx context.Context, path, task string) (sets []Set, notes []string, err error) {
	root, files, err := Files(path)
	if err != nil {
		return nil, nil, err
	}
	alone := len(files) == 1 && files[0] == root
	var all []Set
	for _, file := range files {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		if stem, _, _, _ := reviewOf(file); stem != "" && !alone { // thousands of texts, see FindSentences
			continue
		}
		format, err := formatOf(file)
		if err != nil {
			return nil, nil, err
		}
		if format == nil {
			notes = append(notes, file+": neither a similarity nor an analogy nor a categorization set, skipped")
			continue
		}
		if task != "" && format.Task != task || format.Task == evaluate.TaskClassification { // see FindSentences
			continue
		}
		s := Set{Path: file, Task: format.Task}
		if err := format.read(ctx, file, &s); err != nil {
			return nil, nil, err
		}
		if format.joins && !alone {
			all = join(all, collection(root, file), s)
		} else {
			all = append(all, s)
		}
	}
	sets, same := withoutCopies(all)
	if len(sets) == 0 {
		task = cmp.Or(task, "similarity, analogy or categorization")
		return nil, nil, fmt.Errorf("%s: no %s set found; expected lines \"word word score\", \"word word word word\" or \"word<TAB>answer/answer\", or columns \"category\" and \"word\"", path, task)
	}
	nameSets(sets, root)
	return sets, append(notes, same...), nil
}

// withoutCopies returns the sets of different content, and notes of those left out.
func withoutCopies(all []Set) (sets []Set, notes []string) {
	places := make(map[uint64]int) // in sets, by content
	for _, s := range all {
		content := s.content()
		if i, ok := places[content]; ok {
			file := s.Path
			if same := &sets[i]; hasPublishedName(file) && !hasPublishedName(same.Path) {
				file, same.Path = same.Path, file
			}
			notes = append(notes, sameSet(file, sets[i].Path))
			continue
		}
		places[content] = len(sets)
		sets = append(sets, s)
	}
	return sets, notes
}

// sameSet is the note of a set that is there twice.
func sameSet(file, first string) string {
	return fmt.Sprintf("%s: the same set as %s, counted once", file, first)
}

// content tells sets apart by their items, whatever the order and the format of
// the file: collections often have a set in two formats, and counted twice it
// would weigh twice in a mean.
func (s *Set) content() uint64 {
	items := make([]uint64, 0, len(s.Pairs)+len(s.Members))
	add := func(format string, values ...any) {
		items = append(items, xxhash.Sum64String(fmt.Sprintf(format, values...)))
	}
	for _, p := range s.Pairs {
		add("%q %q %g", p.First, p.Second, p.Score)
	}
	for _, m := range s.Members {
		add("%q %q", m.Word, m.Category)
	}
	for _, section := range s.Sections {
		for _, q := range section.Questions {
			add("%q %q", section.Name, q)
		}
	}
	slices.Sort(items)
	hash := xxhash.New()
	_, _ = hash.WriteString(s.Task)
	_, _ = hash.Write(memory.BytesOf(items))
	return hash.Sum64()
}

// Contained names sets that repeat a larger set of their task: of each, the larger set, which has more than half of its items. A set
// that repeats another is not itself taken for a larger one.
func Contained(sets []Set) map[string]string {
	type known struct {
		name, task string
		items      map[string]bool
	}
	var all, apart []known
	for _, s := range sets {
		all = append(all, known{s.Name, s.Task, s.items()})
	}
	slices.SortStableFunc(all, func(a, b known) int { return cmp.Compare(len(b.items), len(a.items)) })
	contained := map[string]string{}
	for _, s := range all {
		i := slices.IndexFunc(apart, func(larger known) bool { return larger.task == s.task && common(s.items, larger.items) > 0.5 })
		if i < 0 {
			apart = append(apart, s)
		} else {
			contained[s.name] = apart[i].name
		}
	}
	return contained
}

// common returns the fraction of the items that are also in others.
func common(items, others map[string]bool) float64 {
	both := 0
	for item := range items {
		if others[item] {
			both++
		}
	}
	return float64(both) / float64(max(len(items), 1))
}

// items returns what is asked in a set: its pairs whatever their order, its questions, or the members of its categories.
func (s *Set) items() map[string]bool {
	items := map[string]bool{}
	add := func(words ...string) { items[strings.ToLower(strings.Join(words, " "))] = true }
	for _, p := range s.Pairs {
		first, second := strings.ToLower(p.First), strings.ToLower(p.Second)
		add(min(first, second), max(first, second))
	}
	for _, m := range s.Members {
		add(m.Word, m.Category)
	}
	for _, section := range s.Sections {
		for _, q := range section.Questions {
			add(q.A, q.B, q.C, q.D)
		}
	}
	return items
}
