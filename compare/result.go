package compare

import (
	"cmp"
	"maps"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/w2vcl/w2vcl/compare/experiment"
	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/evaluate"
	"github.com/w2vcl/w2vcl/evaluate/words"
	"github.com/w2vcl/w2vcl/internal/machine"
	"github.com/w2vcl/w2vcl/kernels/simd"
	"github.com/w2vcl/w2vcl/train/runfolder"
)

// A Result holds all numbers of a comparison. Its JSON is report.json.
type Result struct {
	Version string  `json:"version"`
	Command string  `json:"command"`
	Machine Machine `json:"machine"`
	Text    Text    `json:"text"`
	Data    string  `json:"data"`
	Budget  string  `json:"budget"`
	Seeds   int     `json:"seeds"`
	Points  int     `json:"points"`
	Title   string  `json:"title,omitempty"` // that the user gave

	Verdict      []string `json:"verdict"`       // sentences
	Next         string   `json:"next"`          // what to do; empty: nothing
	Tests        int      `json:"tests"`         // of differences: one family
	Testable     bool     `json:"testable"`      // some set has enough items
	SeveralSeeds bool     `json:"several_seeds"` // of a variant: chance between seeds is known

	Sets        []Set           `json:"sets"`
	Variants    []VariantResult `json:"variants"`
	Differences []Difference    `json:"differences"`
	Sweeps      []Sweep         `json:"sweeps,omitempty"`
	Runs        []*Record       `json:"runs"`
	Missing     []string        `json:"missing,omitempty"`  // runs that an interruption left out
	Diverged    []string        `json:"diverged,omitempty"` // runs that came to nothing
	Spelling    string          `json:"spelling,omitempty"` // see Options.EqualEncoder: why no variant composes words from it
}

// A Text describes the text that all runs trained on, as the first of them read it.
type Text struct {
	Corpus      string `json:"corpus"`           // as the user named it, without its path
	SHA256      string `json:"sha256,omitempty"` // of the file, as it is on the disk
	Fingerprint string `json:"fingerprint"`
	Bytes       int64  `json:"bytes"` // after decompression
	Tokens      int64  `json:"tokens"`
	TrainWords  int64  `json:"train_words"`
	Vocabulary  int    `json:"vocab"`
	Sentences   int64  `json:"sentences"`
}

// A Set is an evaluation set with one of its metrics.
type Set struct {
	Task    string `json:"task"`
	Dataset string `json:"dataset"`
	Metric  string `json:"metric"`
	Found   int    `json:"found"`  // by the run that knows most of the items
	Fewest  int    `json:"fewest"` // by the one that knows least; vocabularies may differ
	Total   int    `json:"total"`
	Main    bool   `json:"main"` // shown over time; counts for the mean score unless LeftOut says why not

	Weight  float64 `json:"weight"` // in the mean score; the sum of all is 1
	LeftOut string  `json:"left_out,omitempty"`
}

// The tables of scores in the report.
const (
	tableMain    = "main"
	tableClasses = "classes of sentences"
	tableOthers  = "other metrics"
)

func (s Set) table() string {
	switch {
	case s.Main:
		return tableMain
	case s.Task == evaluate.TaskClassification:
		return tableClasses
	default:
		return tableOthers
	}
}

// A Spread is a number of several seeds: its mean, and how far the seeds lie apart.
type Spread struct {
	Mean      evaluate.Score `json:"mean"`
	Deviation evaluate.Score `json:"deviation"` // standard deviation; null with one seed
	Low       evaluate.Score `json:"low"`       // smallest
	High      evaluate.Score `json:"high"`      // largest
}

// spreadOf sums up the values that are numbers.
func spreadOf(values []float64) Spread {
	values = slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	n := float64(len(values))
	if n == 0 {
		return Spread{evaluate.NoScore, evaluate.NoScore, evaluate.NoScore, evaluate.NoScore}
	}
	var sum, squares float64
	for _, v := range values {
		sum += v
	}
	mean := sum / n
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	return Spread{
		Mean: evaluate.Score(mean), Deviation: evaluate.Score(math.Sqrt(squares / (n - 1))), // NaN with one seed
		Low: evaluate.Score(slices.Min(values)), High: evaluate.Score(slices.Max(values)),
	}
}

// A VariantResult is the result of a variant over its seeds.
type VariantResult struct {
	experiment.Variant
	Settings       map[string]string `json:"settings"` // of the first seed
	Device         string            `json:"device"`   // the name of a GPU; empty: the CPU
	Vocabulary     int               `json:"vocab"`
	Memory         runfolder.Memory  `json:"memory_bytes"`
	Length         *Length           `json:"length,omitempty"` // if it is measured
	SecondsMatrix  Spread            `json:"seconds_matrix"`
	SecondsTrain   Spread            `json:"seconds_train"`
	WordsPerSecond Spread            `json:"words_per_second"`
	Pairs          Spread            `json:"pairs"`
	Words          Spread            `json:"words"` // of all epochs
	Epochs         Spread            `json:"epochs"`
	Score          Spread            `json:"score"`  // see Result.meanScore
	Scores         []Spread          `json:"scores"` // of Result.Sets

	// Searched is how the recipe was found; nil: it is a paper's, or unknown.
	Searched *search `json:"search,omitempty"`

	Curve []CurvePoint `json:"curve"`
}

// A CurvePoint is one point of a variant's curves: an observation over its seeds.
type CurvePoint struct {
	Seconds Spread        `json:"seconds"` // building M and training
	Pairs   Spread        `json:"pairs"`
	Score   Spread        `json:"score"`
	Scores  []Spread      `json:"scores"` // of the main sets
	Bands   []BandOfSeeds `json:"bands"`
}

// A BandOfSeeds holds the losses of a frequency band, as means over the seeds.
type BandOfSeeds struct {
	words.Band
	Means     Spread `json:"means"`     // of the mean loss of the words
	Variances Spread `json:"variances"` // of the variance between the words
}

// taskMean is the task of a Difference in the mean score.
const (
	taskMean = "mean"
	meanName = "mean score"
)

var theMean = Set{Task: taskMean, Dataset: meanName}

// A Difference compares the scores of two variants on one set, or in the mean score.
type Difference struct {
	Task       string            `json:"task"`
	Dataset    string            `json:"dataset"`
	Metric     string            `json:"metric"`
	Items      int               `json:"items"` // that all variants know
	Variant    string            `json:"variant"`
	Against    string            `json:"against"`
	Difference evaluate.Interval `json:"difference"` // score of Variant minus score of Against
	P          evaluate.Score    `json:"p"`          // two-sided, see effect.test; null where nothing is tested
	Holm       evaluate.Score    `json:"holm"`       // P, adjusted for all tests of the comparison

	effect
	tested bool
}

// Summarize computes all numbers of the report. The words of the command line say how to repeat it.
func Summarize(f *Finished, version string, command ...string) (*Result, error) {
	text := f.Texts[0]
	stats := text.Stats
	r := &Result{
		Version: version, Command: commandLine(command), Machine: thisMachine(),
		Data: f.Options.Data, Budget: f.Options.Budget.String(), Seeds: f.Options.Seeds, Points: f.Options.Points,
		Title: f.Options.Title, Missing: f.Missing, Diverged: f.Diverged, Spelling: f.spelling,
		Text: Text{
			Corpus: f.corpus(), SHA256: f.sum, Fingerprint: corpus.Hex(text.Fingerprint()),
			Bytes: stats.Bytes, Tokens: stats.Tokens, TrainWords: stats.TokensUsed,
			Vocabulary: text.Vocabulary.Len(), Sentences: stats.Sentences,
		},
	}
	for _, record := range f.Records {
		r.Runs = append(r.Runs, f.reported(record))
	}
	r.Sets = setsOf(r.Runs)
	r.weigh(f)
	for _, v := range f.rows() {
		r.Variants = append(r.Variants, r.variant(v, r.runsOf(v)))
	}
	r.Sweeps = sweeps(r.Variants)
	if err := r.compareAll(f, bootstrapSamples); err != nil {
		return nil, err
	}
	r.Verdict, r.Next = r.verdict()
	return r, nil
}

func setsOf(runs []*Record) (sets []Set) {
	for i, s := range runs[0].Scores {
		set := Set{Task: s.Task, Dataset: s.Dataset, Metric: s.Metric, Found: s.Found, Fewest: s.Found, Total: s.Total, Main: isMain(s)}
		for _, r := range runs {
			set.Found, set.Fewest = max(set.Found, r.Scores[i].Found), min(set.Fewest, r.Scores[i].Found)
		}
		sets = append(sets, set)
	}
	return sets
}

// corpus names the corpus as the user did. A report is passed on, and a path of this
// machine says nothing elsewhere.
func (f *Finished) corpus() string {
	return cmp.Or(f.Options.Corpus, f.Options.Settings["graph"], f.Options.Settings["corpus"])
}

// reported returns a record in the form of the report: all scores in one list.
func (f *Finished) reported(record *Record) *Record {
	r := *record
	r.Settings, r.Own = maps.Clone(r.Settings), maps.Clone(r.Own)
	if r.Settings["graph"] == "" {
		r.Settings["corpus"] = f.corpus()
	}
	if f.Options.Classify {
		r.Scores = slices.Concat(r.Scores, r.Classes)
	}
	r.Classes, r.ClassSets = nil, nil
	return &r
}

// runsOf returns the runs of a variant, one for each seed.
func (r *Result) runsOf(v experiment.Variant) []*Record {
	var runs []*Record
	for _, run := range r.Runs {
		if run.Variant.Name == v.Name {
			runs = append(runs, run)
		}
	}
	return runs
}

// overSeeds sums up one number of the runs of a variant.
func overSeeds(runs []*Record, number func(*Record) float64) Spread {
	var values []float64
	for _, r := range runs {
		values = append(values, number(r))
	}
	return spreadOf(values)
}

// variant sums up the runs of a variant.
func (r *Result) variant(v experiment.Variant, runs []*Record) VariantResult {
	result := VariantResult{
		Variant: v, Settings: runs[0].Settings, Device: runs[0].Summary.DeviceName,
		Vocabulary: runs[0].Summary.Vocab, Memory: runs[0].Summary.Memory, Length: runs[0].Length,
		SecondsMatrix:  overSeeds(runs, func(r *Record) float64 { return r.Summary.SecondsMatrix }),
		SecondsTrain:   overSeeds(runs, func(r *Record) float64 { return r.Summary.SecondsTrain }),
		WordsPerSecond: overSeeds(runs, func(r *Record) float64 { return r.Summary.WordsPerSecond }),
		Pairs:          overSeeds(runs, func(r *Record) float64 { return r.Summary.PairsPerSecond * r.Summary.SecondsTrain }),
		Words:          overSeeds(runs, func(r *Record) float64 { return r.Summary.WordsPerSecond * r.Summary.SecondsTrain }),
		Epochs:         overSeeds(runs, func(r *Record) float64 { return r.Summary.Epochs }),
		Score:          overSeeds(runs, func(run *Record) float64 { return r.meanScore(mainScores(run.Scores)) }),
	}
	for i := range r.Sets {
		result.Scores = append(result.Scores, overSeeds(runs, func(r *Record) float64 { return float64(r.Scores[i].Score) }))
	}
	result.Searched = searched(v, result.Settings)
	points := len(runs[0].Points)
	for _, run := range runs {
		points = min(points, len(run.Points))
	}
	for k := range points {
		result.Curve = append(result.Curve, r.curvePointOf(runs, k))
	}
	return result
}

// mainScores returns the scores of main sets.
func mainScores(scores []evaluate.Result) []evaluate.Result {
	return slices.DeleteFunc(slices.Clone(scores), func(s evaluate.Result) bool { return !isMain(s) })
}

// curvePointOf sums up observation k of the runs of a variant.
func (r *Result) curvePointOf(runs []*Record, k int) CurvePoint {
	point := CurvePoint{
		Seconds: overSeeds(runs, func(r *Record) float64 { return r.Summary.SecondsMatrix + r.Points[k].Seconds }),
		Pairs:   overSeeds(runs, func(r *Record) float64 { return r.Points[k].Pairs }),
		Score:   overSeeds(runs, func(run *Record) float64 { return r.meanScore(run.Points[k].Scores) }),
	}
	for i := range runs[0].Points[k].Scores {
		point.Scores = append(point.Scores, overSeeds(runs, func(r *Record) float64 { return float64(r.Points[k].Scores[i].Score) }))
	}
	for i, first := range runs[0].Points[k].Bands {
		band := BandOfSeeds{Band: first}
		band.Means = overSeeds(runs, func(r *Record) float64 { return r.Points[k].Bands[i].Mean })
		band.Variances = overSeeds(runs, func(r *Record) float64 { return r.Points[k].Bands[i].Variance })
		band.Mean, band.Variance = float64(band.Means.Mean), float64(band.Variances.Mean)
		for q := range band.Quantiles {
			band.Quantiles[q] = float64(overSeeds(runs, func(r *Record) float64 { return r.Points[k].Bands[i].Quantiles[q] }).Mean)
		}
		point.Bands = append(point.Bands, band)
	}
	return point
}

// A Machine describes the machine that a result was measured on.
type Machine struct {
	Processor  string  `json:"processor"`  // model name; "" if unknown
	Processors int     `json:"processors"` // that the system shows this process
	Threads    int     `json:"gomaxprocs"` // processors that Go uses at the same time
	Kernels    string  `json:"kernels"`    // best instructions of the kernels
	Go         string  `json:"go"`
	System     string  `json:"system"`
	Load       float64 `json:"load_average"` // of the minute before, of all processes; -1: unknown
	Date       string  `json:"date"`         // RFC 3339, UTC
}

func thisMachine() Machine {
	hardware := machine.Describe()
	return Machine{
		Processor: hardware.Processor, Load: hardware.Load,
		Processors: runtime.NumCPU(), Threads: runtime.GOMAXPROCS(0), Kernels: string(simd.Current()),
		Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH,
		Date: time.Now().UTC().Format(time.RFC3339),
	}
}
