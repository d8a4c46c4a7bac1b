package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestPaperNumbers: every number of ours is in the files of the benchmarks that its row names, rounded at most, or computed from numbers that are.
func TestPaperNumbers(t *testing.T) {
	pages := map[string][]float64{}
	for _, paper := range readPapers(t).Paper {
		for _, r := range paper.Row {
			for _, problem := range checkNumbers(r, func(folder string) []float64 {
				if pages[folder] == nil {
					pages[folder] = numbersOfFolder(t, filepath.Join("..", "..", "benchmarks", folder))
					if page := pageOf(folder); page != folder {
						pages[folder] = append(pages[folder], numbersOfFolder(t, filepath.Join("..", "..", "benchmarks", page, "README.md"))...)
					}
				}
				return pages[folder]
			}) {
				t.Errorf("%s, %s: %s", paper.Name, r.Item, problem)
			}
		}
	}
}

// TestPaperLinks: numbers in the text of a link from docs/papers.md to a benchmark are in that benchmark.
func TestPaperLinks(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "papers.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, link := range regexp.MustCompile(`\[([^\]]+)\]\(\.\./benchmarks/([^/)]+)/`).FindAllStringSubmatch(string(page), -1) {
		for _, s := range numbersOf(link[1]) {
			if found++; !rounded(s, numbersOfFolder(t, filepath.Join("..", "..", "benchmarks", link[2]))) {
				t.Errorf("%s: %s is not in %s", link[0], s, link[2])
			}
		}
	}
	if found == 0 {
		t.Error("no number in any link")
	}
}

// TestPaperNumbersFail: a number that nothing gives is found.
func TestPaperNumbersFail(t *testing.T) {
	page := func(string) []float64 { return []float64{1056, 11.3, 0.4123, 67869} }
	for ours, ok := range map[string]bool{
		"93 times": true, ".41 of WS-353": true, "−.412 on 67,869 words": true, "1,056": true,
		"94 times": false, ".42": false, ".4124": false, "67,868": false, "1.056": false,
	} {
		r := paperRow{Ours: ours, Measured: []string{"page"}, Computed: []string{"93 = 1,056 / 11.3"}}
		if problems := checkNumbers(r, page); (len(problems) == 0) != ok {
			t.Errorf("%s: %q", ours, problems)
		}
	}
	if problems := checkNumbers(paperRow{Ours: "93 times"}, page); len(problems) == 0 {
		t.Error("a number of no page: no problem found")
	}
	for _, line := range []string{"93 = 1,057 / 11.3", "92 = 1,056 / 11.3", "93 = 1,056 / x", "93"} {
		if problems := checkNumbers(paperRow{Ours: "93", Measured: []string{"page"}, Computed: []string{line}}, page); len(problems) == 0 {
			t.Errorf("%s: no problem found", line)
		}
	}
}

// aNumber is a number in a text: 1,056 or .41. Those of names (WS-353, Fig. 3, R², n^0.7) are none of ours.
var aNumber = regexp.MustCompile(`(?:[0-9][0-9,]*(?:\.[0-9]+)?|\.[0-9]+)`)

var aName = regexp.MustCompile("`[^`]*`|\\pL[\\pL0-9]*-[0-9]+[0-9-]*|\\pL+[0-9]+\\b|\\b[0-9]+\\pL+|W_f [0-9]|(?i:fig\\.|figure|table|section|§) ?[0-9.]+")

// numbersOf returns the numbers of a text as they stand there, without commas.
func numbersOf(text string) (all []string) {
	for _, s := range aNumber.FindAllString(aName.ReplaceAllString(text, " "), -1) {
		all = append(all, strings.ReplaceAll(s, ",", ""))
	}
	return all
}

func numbersOfFolder(t *testing.T, folder string) (all []float64) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !slices.Contains([]string{".md", ".txt", ".csv", ".tsv", ".json"}, filepath.Ext(path)) {
			return err
		}
		text, err := os.ReadFile(path)
		for _, s := range aNumber.FindAllString(string(text), -1) {
			if x, err := strconv.ParseFloat(strings.ReplaceAll(s, ",", ""), 64); err == nil {
				all = append(all, x)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// checkNumbers returns what is wrong with the numbers of a row.
func checkNumbers(r paperRow, numbers func(folder string) []float64) (problems []string) {
	if len(r.Measured) == 0 {
		for _, s := range append(numbersOf(r.Ours), numbersOf(r.Why)...) {
			problems = append(problems, s+" is of no page: name it in measured")
		}
		return problems
	}
	known := []float64{}
	for _, folder := range r.Measured {
		known = append(known, numbers(folder)...)
	}
	computed := []string{}
	for _, line := range r.Computed {
		left, right, _ := strings.Cut(line, " = ")
		left = strings.ReplaceAll(left, ",", "")
		if err := checkComputed(left, strings.ReplaceAll(right, ",", ""), known); err != nil {
			problems = append(problems, fmt.Sprintf("%s: %v", line, err))
		}
		computed = append(computed, left)
	}
	paper := numbersOf(r.Published) // why may repeat them
	for i, s := range append(numbersOf(r.Ours), numbersOf(r.Why)...) {
		repeated := i >= len(numbersOf(r.Ours)) && slices.Contains(paper, s)
		if !repeated && !slices.Contains(computed, s) && !rounded(s, known) {
			problems = append(problems, s+" is in no file of "+strings.Join(r.Measured, ", "))
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
			err = fmt.Errorf("%s is in no file", e.Value)
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
