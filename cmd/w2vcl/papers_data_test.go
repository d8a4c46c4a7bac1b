package main

import (
	"encoding/csv"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// evidence is what a row of docs/papers.toml names in measured.
type evidence struct {
	numbers  []float64
	commands string // of the runs that gave the data
}

// mostNumbers bounds the numbers of a file that a row may name without saying which lines: among many numbers any number is found.
const mostNumbers = 100

// benchmarksRoot has the data files.
var benchmarksRoot = filepath.Join("..", "..", "benchmarks")

// readEvidence reads the cells that FILE, "FILE: PATTERN" of lines, or either with " | HEAD; HEAD" of columns names. The first column,
// which says what a line is about, is always read.
func readEvidence(name string) (evidence, error) {
	lines, heads, _ := strings.Cut(name, " | ")
	file, pattern, filtered := strings.Cut(lines, ": ")
	if !slices.Contains([]string{".tsv", ".txt", ".csv"}, filepath.Ext(file)) {
		return evidence{}, fmt.Errorf("%s is not a data file", file)
	}
	text, err := os.ReadFile(filepath.Join(benchmarksRoot, filepath.FromSlash(file)))
	if err != nil {
		return evidence{}, err
	}
	wanted, err := regexp.Compile(pattern)
	if err != nil {
		return evidence{}, err
	}
	var e evidence
	var columns []string
	for i, line := range strings.Split(strings.TrimRight(string(text), "\n"), "\n") {
		cells := strings.Split(line, "\t")
		if filepath.Ext(file) == ".csv" {
			cells = strings.Split(line, ",")
		}
		if i == 0 && filepath.Ext(file) != ".txt" {
			columns = cells
		} else if !wanted.MatchString(line) {
			continue
		}
		for k, cell := range cells {
			if k == 0 || heads == "" || k < len(columns) && slices.Contains(strings.Split(heads, "; "), columns[k]) {
				e.numbers = append(e.numbers, dataNumbers(cell)...)
			}
		}
	}
	for _, head := range strings.Split(heads, "; ") {
		if err == nil && heads != "" && !slices.Contains(columns, head) {
			err = fmt.Errorf("no column %q", head)
		}
	}
	if err == nil {
		e.commands, err = commandsOf(file)
	}
	switch {
	case err != nil:
	case len(e.numbers) == 0 && filtered:
		err = fmt.Errorf("no line with a number fits %q", pattern)
	case len(e.numbers) > mostNumbers:
		err = fmt.Errorf("%d numbers, at most %d: say which lines, \"FILE: PATTERN\"", len(e.numbers), mostNumbers)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return e, err
}

var (
	aDataNumber = regexp.MustCompile(`\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\.\d+`)
	aDataName   = regexp.MustCompile(`\pL[\pL0-9]*-[0-9]+[0-9-]*|\pL+[0-9]+\b|W_f [0-9]|\(\.[0-9]+\)`) // WS-353, H200, a deviation
)

// dataNumbers returns the numbers of a cell. Signs and deviations do not count.
func dataNumbers(line string) (all []float64) {
	for _, s := range aDataNumber.FindAllString(aDataName.ReplaceAllString(line, " "), -1) {
		if x, err := strconv.ParseFloat(strings.ReplaceAll(s, ",", ""), 64); err == nil {
			all = append(all, x)
		}
	}
	return all
}

// commandsOf returns the lines of runs.tsv that name a data file, in its folder or one above. One of them must say more than a name.
func commandsOf(file string) (string, error) {
	name, found := filepath.Base(file), ""
	for folder := filepath.Dir(file); folder != "."; folder = filepath.Dir(folder) {
		text, err := os.ReadFile(filepath.Join(benchmarksRoot, folder, "runs.tsv"))
		if err != nil {
			continue
		}
		for _, line := range strings.Split(string(text), "\n") {
			if slices.Contains(strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" ,;:\t", r) }), name) {
				found += line + "\n"
			}
		}
	}
	if strings.Count(found, "\t") < 3 {
		return "", fmt.Errorf("no runs.tsv names it with a machine, a commit and a command")
	}
	return found, nil
}

// TestPaperMeans: each mean with a deviation, as .491 (.003), in a table that runs.tsv says is made of a file of scores, is that of a
// group of runs there.
func TestPaperMeans(t *testing.T) {
	unscored := regexp.MustCompile(`(?m)^SST-2.*$`) // was scored by another program
	for table, scores := range map[string][]string{
		"papers/full/table7.tsv": {"papers/full/scores.csv"}, "papers/full/table5.tsv": {"papers/full/scores.csv"},
		"papers/full/figure15.tsv": {"papers/full/scores.csv"}, "papers/full/l-published.tsv": {"papers/full/scores.csv"},
		"papers/full/l-tuned.tsv": {"papers/full/scores.csv"}, "papers/full/vanilla-batch.tsv": {"papers/full/scores.csv"},
		"papers/full/parw2v-batch.tsv": {"papers/full/scores.csv"}, "papers/full/gpus-scores.tsv": {"papers/full/scores.csv"},
		"papers/blazingtext.tsv": {"papers/blazingtext-scores.csv"}, "papers/short/figure15.tsv": {"papers/short/scores.csv"},
		"papers/short/l.tsv": {"papers/short/figure14.csv", "papers/short/scores.csv"},
	} {
		text, err := os.ReadFile(filepath.Join(benchmarksRoot, filepath.FromSlash(table)))
		if err != nil {
			t.Fatal(err)
		}
		known := map[string]bool{}
		for _, name := range scores {
			maps.Copy(known, groupsOf(t, filepath.Join(benchmarksRoot, filepath.FromSlash(name))))
		}
		cells := regexp.MustCompile(`−?\.\d{3} \(\.\d{3}\)`).FindAllString(unscored.ReplaceAllString(string(text), ""), -1)
		for _, c := range cells {
			if !known[c] {
				t.Errorf("%s: no group of runs in %v has the mean and the deviation %s", table, scores, c)
			}
		}
		if len(cells) < 10 {
			t.Errorf("%s: %d means", table, len(cells))
		}
	}
}

// groupsOf returns the means and deviations between seeds of all variants and sets in a file of scores, as tables write them.
func groupsOf(t *testing.T, path string) map[string]bool {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	groups := map[string]map[string]float64{}
	add := func(group, seed string, score float64) {
		if groups[group] == nil {
			groups[group] = map[string]float64{}
		}
		groups[group][seed] += score
	}
	column := map[string]int{}
	for i, name := range lines[0] {
		column[name] = i
	}
	for _, line := range lines[1:] {
		cell := func(name string) string {
			if i, ok := column[name]; ok {
				return line[i]
			}
			return ""
		}
		score, err := strconv.ParseFloat(cell("score")+cell("value"), 64)
		if err != nil {
			continue // a set of which no word is known
		}
		variant, set, metric := strings.TrimSuffix(cell("part"), "b")+"\t"+cell("variant"), cell("dataset")+cell("of"), cell("metric")
		add(variant+"\t"+set+"\t"+metric, cell("seed"), score)
		if slices.Contains([]string{"WS-353", "SimLex-999", "MEN", "RW", "Google"}, set) && slices.Contains([]string{"", "spearman", "3cosadd"}, metric) {
			add(variant+"\tmean", cell("seed"), score/5)
		}
	}
	known := map[string]bool{}
	for _, seeds := range groups {
		values := slices.Collect(maps.Values(seeds))
		mean, deviation := 0.0, 0.0
		for _, x := range values {
			mean += x / float64(len(values))
		}
		for _, x := range values {
			deviation += (x - mean) * (x - mean) / max(float64(len(values)-1), 1)
		}
		known[strings.NewReplacer("0.", ".", "-", "−").Replace(fmt.Sprintf("%.3f (%.3f)", mean, math.Sqrt(deviation)))] = true
	}
	return known
}
