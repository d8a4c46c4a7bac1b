package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestPaperNumbers: every number of ours is in the data that its row names, rounded at most, or computed from numbers that are.
func TestPaperNumbers(t *testing.T) {
	read, published := evidenceReader(t), publishedNumbers(readPapers(t))
	for _, paper := range readPapers(t).Paper {
		for _, r := range paper.Row {
			for _, problem := range checkNumbers(r, read, published) {
				t.Errorf("%s, %s: %s", paper.Name, r.Item, problem)
			}
		}
	}
}

// evidenceReader reads each file once.
func evidenceReader(t *testing.T) func(name string) evidence {
	read := map[string]evidence{}
	return func(name string) evidence {
		e, ok := read[name]
		if !ok {
			var err error
			if e, err = readEvidence(name); err != nil {
				t.Error(err)
			}
			read[name] = e
		}
		return e
	}
}

// publishedNumbers are those of all papers: ours may be computed from them.
func publishedNumbers(p papersOf) (all []float64) {
	for _, paper := range p.Paper {
		for _, r := range paper.Row {
			for _, s := range numbersOf(r.Published) {
				x, _ := strconv.ParseFloat(s, 64)
				all = append(all, x)
			}
		}
	}
	return all
}

// TestPaperNumbersFind: nearly every number of the page with two digits or more would be missed if its last digit were another one.
func TestPaperNumbersFind(t *testing.T) {
	read, published := evidenceReader(t), publishedNumbers(readPapers(t))
	changed, found := 0, 0
	for _, paper := range readPapers(t).Paper {
		for _, r := range paper.Row {
			missed, tried := []string{}, changed
			numbers := numbersOf(r.Ours)
			for i, end := range numberPlaces(r.Ours) {
				number := numbers[i]
				for digit := '0'; len(strings.Trim(number, "0.")) > 1 && digit <= '9'; digit++ {
					wrong := r
					wrong.Ours = r.Ours[:end-1] + string(digit) + r.Ours[end:]
					if wrong.Ours == r.Ours {
						continue
					}
					if changed++; len(checkNumbers(wrong, read, published)) > 0 {
						found++
					} else {
						missed = append(missed, number[:len(number)-1]+string(digit))
					}
				}
			}
			if len(missed) > 9 && 6*len(missed) > changed-tried {
				t.Errorf("%s, %s: too many other numbers are there, too: %s", paper.Name, r.Item, strings.Join(missed, " "))
			}
		}
	}
	if share := float64(found) / float64(changed); share < 0.94 || changed < 1000 {
		t.Errorf("%d of %d wrong numbers are found, %.3f", found, changed, share)
	}
}

// TestPaperLinks: a sentence of docs/papers.md that links to benchmarks has numbers only in the texts of links to data, and they are there.
func TestPaperLinks(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "papers.md"))
	if err != nil {
		t.Fatal(err)
	}
	head, rest, _ := strings.Cut(string(page), papersBegin)
	_, tail, _ := strings.Cut(rest, papersEnd)
	link := regexp.MustCompile(`\[([^\]]+)\]\(\.\./benchmarks/([^)]+)\)`)
	found := 0
	for _, sentence := range regexp.MustCompile(`(?:\.|:)\s|\n\n`).Split(head+tail, -1) {
		for _, l := range link.FindAllStringSubmatch(sentence, -1) {
			numbers := numbersOf(l[1])
			if found += len(numbers); len(numbers) == 0 {
				continue
			}
			e, err := readEvidence(l[2])
			if err != nil {
				t.Error(err)
			}
			for _, s := range numbers {
				if !rounded(s, e.numbers) {
					t.Errorf("%s: %s is not there", l[0], s)
				}
			}
		}
		if link.MatchString(sentence) {
			for _, s := range numbersOf(link.ReplaceAllString(sentence, "")) {
				t.Errorf("%q: %s has no link of its own to data", sentence, s)
			}
		}
	}
	if found < 2 {
		t.Errorf("%d numbers in links", found)
	}
}

// TestPaperNumbersFail: a number that nothing gives is found.
func TestPaperNumbersFail(t *testing.T) {
	page := func(string) evidence {
		return evidence{numbers: []float64{1056, 11.3, 0.4123, 67869}, commands: "x\ttrain --dim 128 --window 5"}
	}
	published := []float64{5000}
	for ours, ok := range map[string]bool{
		"93 times": true, ".41 of WS-353": true, "−.412 on 67,869 words": true, "1,056": true, "on 10 MB": true, "dim 128, window 5": true,
		"94 times": false, ".42": false, ".4124": false, "67,868": false, "1.056": false, "11 MB": true, "12 MB": false, "dim 12": false, "5,000": false,
	} {
		r := paperRow{Ours: ours, Measured: []string{"page"}, Computed: []string{"93 = 1,056 / 11.3"}}
		if problems := checkNumbers(r, page, published); (len(problems) == 0) != ok {
			t.Errorf("%s: %q", ours, problems)
		}
	}
	if problems := checkNumbers(paperRow{Ours: "93 times"}, page, nil); len(problems) == 0 {
		t.Error("a number of no data: no problem found")
	}
	for line, ok := range map[string]bool{
		"93 = 1,057 / 11.3": false, "92 = 1,056 / 11.3": false, "93 = 1,056 / x": false, "93": false, "93 = 5,000 - 4,907": false,
		"93 = 5,000 / 53.8": false, "5 = 5,000 / 1,000": true,
	} {
		left, _, _ := strings.Cut(line, " ")
		r := paperRow{Ours: left, Measured: []string{"page"}, Computed: []string{line}}
		if problems := checkNumbers(r, page, published); (len(problems) == 0) != ok {
			t.Errorf("%s: %q", line, problems)
		}
	}
	for _, name := range []string{"papers/README.md", "papers/none.tsv", "vanilla/curve.csv", "vanilla/search.tsv: no such line", "papers/full/machine.txt: ["} {
		if _, err := readEvidence(name); err == nil {
			t.Errorf("%s: no problem found", name)
		}
	}
}

// aNumber is a number in a text: 1,056 or .41. Those of names (WS-353, Fig. 3, R², 100 MB of text) are none of ours.
var (
	aNumber  = regexp.MustCompile(`(?:[0-9][0-9,]*(?:\.[0-9]+)?|\.[0-9]+)`)
	aName    = regexp.MustCompile("`[^`]*`|\\pL[\\pL0-9]*-[0-9]+[0-9-]*|\\pL+[0-9]+[\\pL0-9]*|\\b[0-9]+\\pL+|W_f [0-9]|(?i:fig\\.|figure|table|section|step|task|§) ?[0-9.]+|\\b100? MB|95%")
	aSetting = regexp.MustCompile(`\b(dim|window) ([0-9]+)`)
)

// numberPlaces returns where the numbers of a text end that are no settings.
func numberPlaces(text string) (ends []int) {
	for _, not := range []*regexp.Regexp{aName, aSetting} {
		text = not.ReplaceAllStringFunc(text, func(name string) string { return strings.Repeat(" ", len(name)) })
	}
	for _, at := range aNumber.FindAllStringIndex(text, -1) {
		ends = append(ends, at[0]+len(strings.TrimRight(text[at[0]:at[1]], ",")))
	}
	return ends
}

// numbersOf returns these numbers as they stand there, without commas.
func numbersOf(text string) (all []string) {
	for _, end := range numberPlaces(text) {
		begin := end
		for begin > 0 && strings.ContainsRune("0123456789,.", rune(text[begin-1])) {
			begin--
		}
		all = append(all, strings.ReplaceAll(text[begin:end], ",", ""))
	}
	return all
}

// checkNumbers returns what is wrong with the numbers of a row.
func checkNumbers(r paperRow, read func(name string) evidence, published []float64) (problems []string) {
	ours := numbersOf(r.Ours)
	own := len(ours)
	ours = append(ours, numbersOf(r.Why)...)
	if len(r.Measured) == 0 {
		for _, s := range ours {
			problems = append(problems, s+" is of no data: name it in measured")
		}
		return problems
	}
	known, commands := []float64{}, ""
	for _, name := range r.Measured {
		e := read(name)
		known, commands = append(known, e.numbers...), commands+e.commands
	}
	for _, s := range aSetting.FindAllStringSubmatch(r.Ours, -1) {
		if !regexp.MustCompile(`\b` + s[1] + `[ =]` + s[2] + `\b`).MatchString(commands) {
			problems = append(problems, s[0]+" is in no command of "+strings.Join(r.Measured, ", "))
		}
	}
	computed := []string{}
	for _, line := range r.Computed {
		left, right, _ := strings.Cut(line, " = ")
		left = strings.ReplaceAll(left, ",", "")
		if err := checkComputed(left, strings.ReplaceAll(right, ",", ""), append(slices.Clone(known), published...)); err != nil {
			problems = append(problems, fmt.Sprintf("%s: %v", line, err))
		}
		computed = append(computed, left)
	}
	paper := numbersOf(r.Published) // why may repeat them
	for i, s := range ours {
		repeated := i >= own && slices.Contains(paper, s)
		if !repeated && !slices.Contains(computed, s) && !rounded(s, known) {
			problems = append(problems, s+" is not in "+strings.Join(r.Measured, ", "))
		}
	}
	return problems
}

// rounded reports whether one of the numbers, rounded to as many places, is s.
func rounded(s string, numbers []float64) bool {
	x, err := strconv.ParseFloat(s, 64)
	_, decimals, _ := strings.Cut(s, ".")
	half := math.Pow10(-len(decimals)) / 2
	return err == nil && slices.ContainsFunc(numbers, func(y float64) bool { return math.Abs(x-y) <= half*(1+1e-9) })
}

// checkComputed evaluates an expression of known numbers, small whole numbers and powers of ten.
func checkComputed(left, right string, known []float64) error {
	e, err := parser.ParseExpr(right)
	if err != nil {
		return err
	}
	value, err := resultOf(e, known)
	if err == nil && !rounded(left, []float64{value}) {
		err = fmt.Errorf("it is %v", value)
	}
	return err
}

func resultOf(e ast.Expr, known []float64) (float64, error) {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return resultOf(e.X, known)
	case *ast.BasicLit:
		x, err := strconv.ParseFloat(e.Value, 64)
		if err == nil && x >= 10 && math.Log10(x) != math.Trunc(math.Log10(x)) && !slices.Contains(known, x) {
			err = fmt.Errorf("%s is in no data", e.Value)
		}
		return x, err
	case *ast.BinaryExpr:
		x, err := resultOf(e.X, known)
		if err != nil {
			return 0, err
		}
		y, err := resultOf(e.Y, known)
		switch e.Op {
		case token.ADD:
			return x + y, err
		case token.SUB:
			return x - y, err
		case token.MUL:
			return x * y, err
		case token.QUO:
			return x / y, err
		}
	}
	return 0, fmt.Errorf("%T is not arithmetic", e)
}
