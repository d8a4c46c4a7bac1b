package compare

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/w2vcl/w2vcl/compare/experiment"
	"github.com/w2vcl/w2vcl/compare/report"
	"github.com/w2vcl/w2vcl/evaluate"
	"github.com/w2vcl/w2vcl/internal/atomicfile"
)

// The files of a comparison, beside the folder of runs.
const (
	PageFile   = "report.html" // to read
	ReportFile = "report.json" // the Result
	ScoresFile = "scores.csv"  // one line a run, set and metric
	CurveFile  = "curve.csv"   // one line a run, observation and set
	BandsFile  = "bands.csv"   // one line a run, observation and frequency band

	figuresFolder = "figures" // of every chart, NAME.svg
	tablesFolder  = "tables"  // of every table, NAME.tex and NAME.csv
)

// Files lists the files of a report.
func Files() []string { return []string{PageFile, ReportFile, ScoresFile, CurveFile, BandsFile} }

// Holds reports whether a folder is that of a comparison: it has records of runs.
func Holds(dir string) bool {
	records, err := filepath.Glob(filepath.Join(dir, experiment.RunsFolder, "*.json"))
	return err == nil && len(records) > 0
}

// Write writes all files of the report to a folder, together.
func (r *Result) Write(dir string) error {
	r.hidePaths()
	for _, folder := range []string{figuresFolder, tablesFolder} {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o755); err != nil {
			return fmt.Errorf("cannot write the report: %w", err)
		}
	}
	var files []atomicfile.File
	add := func(name string, write func(io.Writer) error) {
		files = append(files, atomicfile.File{Path: filepath.Join(dir, name), Write: write})
	}
	p := page{r}
	for _, f := range p.Figures() {
		add(filepath.Join(figuresFolder, f.Name()+".svg"), func(w io.Writer) error { return report.WriteSVG(w, f.LineChart) })
	}
	for _, t := range p.Tables() {
		path := filepath.Join(tablesFolder, t.Name)
		add(path+".tex", t.WriteTeX)
		add(path+".csv", t.WriteCSV)
	}
	add(PageFile, r.writePage)
	add(ReportFile, func(w io.Writer) error {
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", " ")
		return encoder.Encode(r)
	})
	add(ScoresFile, writeCSV(r.scoreRows()))
	add(CurveFile, writeCSV(r.curveRows()))
	add(BandsFile, writeCSV(r.bandRows()))
	return atomicfile.WriteAll(files...)
}

func writeCSV(rows [][]string) func(io.Writer) error {
	return func(w io.Writer) error { return report.WriteCSV(w, rows) }
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// scoreText is empty if there is no score. Readers of CSV take that for a missing
// value.
func scoreText(s evaluate.Score) string {
	if !s.Valid() {
		return ""
	}
	return number(float64(s))
}

// key returns the columns that identify a run.
func (r *Record) key() []string {
	return []string{r.Variant.Name, r.Mode, strconv.FormatUint(r.Seed, 10)}
}

func (r *Result) scoreRows() [][]string {
	rows := [][]string{{
		"variant", "mode", "seed", "task", "dataset", "metric", "score", "found", "total",
		"seconds_matrix", "seconds_train", "words_per_second", "pairs_per_second", "memory_bytes",
	}}
	for _, run := range r.Runs {
		for _, s := range run.Scores {
			rows = append(rows, append(run.key(), s.Task, s.Dataset, s.Metric,
				scoreText(s.Score), strconv.Itoa(s.Found), strconv.Itoa(s.Total),
				number(run.Summary.SecondsMatrix), number(run.Summary.SecondsTrain), number(run.Summary.WordsPerSecond),
				number(run.Summary.PairsPerSecond), strconv.FormatInt(run.Summary.Memory.Total, 10)))
		}
	}
	return rows
}

// pointKey returns the columns that identify observation i of a run. Its number is
// there to average by: shares and seconds differ a little from seed to seed.
func (r *Record) pointKey(i int, p Point) []string {
	return append(r.key(), strconv.Itoa(i+1), number(p.Fraction), strconv.Itoa(p.Units),
		number(r.Summary.SecondsMatrix), number(p.Seconds), number(p.Pairs))
}

var pointColumns = []string{"variant", "mode", "seed", "point", "share", "units", "seconds_matrix", "seconds_train", "pairs"}

func (r *Result) curveRows() [][]string {
	rows := [][]string{append(pointColumns[:len(pointColumns):len(pointColumns)],
		"loss", "task", "dataset", "metric", "score", "found", "total")}
	for _, run := range r.Runs {
		for i, p := range run.Points {
			for _, s := range p.Scores {
				rows = append(rows, append(run.pointKey(i, p), number(p.Loss), s.Task, s.Dataset, s.Metric,
					scoreText(s.Score), strconv.Itoa(s.Found), strconv.Itoa(s.Total)))
			}
		}
	}
	return rows
}

func (r *Result) bandRows() [][]string {
	rows := [][]string{append(pointColumns[:len(pointColumns):len(pointColumns)],
		"min_count", "max_count", "words", "mean", "variance", "q05", "q25", "q50", "q75", "q95")}
	for _, run := range r.Runs {
		for i, p := range run.Points {
			for _, b := range p.Bands {
				row := append(run.pointKey(i, p), strconv.FormatUint(b.MinCount, 10), strconv.FormatUint(b.MaxCount, 10),
					strconv.Itoa(b.Words), number(b.Mean), number(b.Variance))
				for _, q := range b.Quantiles {
					row = append(row, number(q))
				}
				rows = append(rows, row)
			}
		}
	}
	return rows
}
