package evaluate

import (
	"bufio"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A line of a data set, without the spaces around it.
type line struct {
	number int // from 1
	text   string
}

func texts(lines []line) []string {
	t := make([]string, len(lines))
	for i, l := range lines {
		t[i] = l.text
	}
	return t
}

// readLines reads the lines of a file that are neither empty nor a comment.
func readLines(path string) ([]line, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines, err := scanLines(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return lines, nil
}

func scanLines(r io.Reader) ([]line, error) {
	var lines []line
	b := bufio.NewReader(r)
	for number := 1; ; number++ {
		text, err := b.ReadString('\n')
		if err != nil && err != io.EOF {
			return nil, err
		}
		if number == 1 {
			text = strings.TrimPrefix(text, "\uFEFF")
		}
		text = strings.TrimSpace(text)
		if text != "" && !strings.HasPrefix(text, "#") && !strings.HasPrefix(text, "//") {
			lines = append(lines, line{number, text})
		}
		if err == io.EOF {
			return lines, nil
		}
	}
}

// findDatasets looks for sets of a task (empty: of all) in a folder and all
// folders in it, or takes path itself if it is a file. It tells them from
// other files by their content. A set that is there twice counts once, under the
// name that the field uses if one of the files has it. Notes say what was passed
// over.
func findDatasets(path, only string) (sets []dataset, notes []string, err error) {
	root, files, err := regularFiles(path)
	if err != nil {
		return nil, nil, err
	}
	places := make(map[string]int) // in sets, by content
	for _, file := range files {
		task, err := taskOf(file)
		if err != nil {
			return nil, nil, err
		}
		if task == "" {
			notes = append(notes, file+": neither a similarity nor an analogy nor a categorization set, skipped")
			continue
		}
		if only != "" && task != only || task == TaskClassification { // see findClassification
			continue
		}
		d, err := readDataset(file, task)
		if err != nil {
			return nil, nil, err
		}
		content := d.content()
		if i, ok := places[content]; ok {
			if same := &sets[i]; hasCommonName(file) && !hasCommonName(same.path) {
				file, same.path = same.path, file
			}
			notes = append(notes, sameSet(file, sets[i].path))
			continue
		}
		places[content] = len(sets)
		sets = append(sets, d)
	}
	if len(sets) == 0 {
		if only == "" {
			only = "similarity, analogy or categorization"
		}
		return nil, nil, fmt.Errorf("%s: no %s set found; expected lines \"word word score\" or \"word word word word\", or columns \"category\" and \"word\"", path, only)
	}
	nameDatasets(sets, root)
	return sets, notes, nil
}

// sameSet is the note of a set that is there twice.
func sameSet(file, first string) string {
	return fmt.Sprintf("%s: the same set as %s, counted once", file, first)
}

// regularFiles lists the files in a folder and below, in the order of their
// paths, or the one file that path is. Hidden ones are left out. root is path
// without symbolic links.
func regularFiles(path string) (root string, files []string, err error) {
	if root, err = filepath.EvalSymlinks(path); err != nil {
		return "", nil, err
	}
	err = filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if strings.HasPrefix(entry.Name(), ".") && file != root {
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
			return err
		}
		files = append(files, file)
		return nil
	})
	return root, files, err
}

// taskOf looks at the beginning of a file. It is a set of the task whose
// format most of the lines there have; the few others are errors that the
// reader reports. "" means neither.
func taskOf(path string) (string, error) {
	const most = 1 << 14
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	start := make([]byte, most)
	n, err := io.ReadFull(f, start)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return "", err
	}
	text := string(start[:n])
	if n == most { // the last line may be cut
		text = text[:strings.LastIndexByte(text, '\n')+1]
	}
	if strings.ContainsRune(text, 0) {
		return "", nil
	}
	scanned, err := scanLines(strings.NewReader(text))
	if err != nil {
		return "", err
	}
	lines := texts(scanned)
	if len(lines) > 0 {
		switch {
		case looksLikeCategories(lines):
			return TaskCategorization, nil
		case looksLikeSimilarity(lines):
			return TaskSimilarity, nil
		case looksLikeAnalogies(lines):
			return TaskAnalogy, nil
		case looksLikeSentences(lines):
			return TaskClassification, nil
		}
	}
	return "", nil
}

func looksLikeSimilarity(lines []string) bool {
	f, err := findLayout(lines)
	if err != nil {
		return false
	}
	if f.header {
		lines = lines[1:]
	}
	good := 0
	for _, l := range lines {
		p, err := f.parse(l)
		if err != nil {
			continue
		}
		_, err1 := parseScore(p.first)
		_, err2 := parseScore(p.second)
		if err1 != nil || err2 != nil { // two numbers and a weight: a graph
			good++
		}
	}
	return 2*good > len(lines)
}

func looksLikeAnalogies(lines []string) bool {
	good := 0
	for _, l := range lines {
		if _, _, err := parseQuestion(l); err == nil || strings.HasPrefix(l, ":") {
			good++
		}
	}
	return 2*good > len(lines)
}

// names maps the beginning of a file's name, without punctuation, case and a
// leading "EN", to the name that the field uses.
var names = []struct{ prefix, name string }{
	{"ws353sim", "WS-353-SIM"},
	{"ws353rel", "WS-353-REL"},
	{"wordsimsimilarity", "WS-353-SIM"},
	{"wordsimrelatedness", "WS-353-REL"},
	{"ws353", "WS-353"},
	{"wordsim353", "WS-353"},
	{"simlex", "SimLex-999"},
	{"simverb", "SimVerb-3500"},
	{"mentr", "MEN"},
	{"mendataset", "MEN"},
	{"mturk771", "MTurk-771"},
	{"mturk", "MTurk-287"},
	{"rwstanford", "RW"},
	{"rg65", "RG-65"},
	{"mc30", "MC-30"},
	{"yp130", "YP-130"},
	{"verb143", "Verb-143"},
	{"questionswords", "Google"},
	{"msr", "MSR"},
	{"battig", "Battig"},
	{"bless", "BLESS"},
	{"essli", "ESSLLI-2008"},
	{"esslli", "ESSLLI-2008"},
	{"wordrelationship", "MSR"},
}

// commonName returns the name that the field uses for a file, or stem.
func commonName(stem string) string {
	key := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(stem))
	if key == "ap" {
		return "AP"
	}
	for _, key := range []string{key, strings.TrimPrefix(key, "en")} {
		for _, n := range names {
			if strings.HasPrefix(key, n.prefix) {
				return n.name
			}
		}
	}
	return stem
}

func hasCommonName(path string) bool {
	stem := stemOf(path)
	return commonName(stem) != stem
}

// stemOf returns a file's name without its extension.
func stemOf(path string) string {
	base := filepath.Base(path)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// nameDatasets names each set by the name that the field uses, or by its
// file's where that name is taken, or by its path where that is taken too.
func nameDatasets(sets []dataset, root string) {
	taken := make(map[string]bool)
	for i := range sets {
		d := &sets[i]
		stem := stemOf(d.path)
		relative, err := filepath.Rel(root, d.path)
		if err != nil {
			relative = d.path
		}
		choices := []string{commonName(stem), stem, filepath.ToSlash(relative)}
		free := slices.IndexFunc(choices, func(name string) bool { return !taken[d.task+name] })
		d.name = choices[max(free, 0)]
		taken[d.task+d.name] = true
	}
}
