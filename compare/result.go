package compare

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/w2vcl/w2vcl/bench"
	"github.com/w2vcl/w2vcl/evaluate"
	"github.com/w2vcl/w2vcl/evaluate/words"
	"github.com/w2vcl/w2vcl/runfolder"
)

// A Result is a comparison, all numbers of it. Its JSON is report.json.
type Result struct {
	Version string        `json:"version"`
	Command string        `json:"command"`
	Machine bench.Machine `json:"machine"`
	Text    Text          `json:"text"`
	Data    string        `json:"data"`
	Budget  string        `json:"budget"`
	Seeds   int           `json:"seeds"`
	Points  int           `json:"points"`

	Sets        []Set           `json:"sets"`
	Variants    []VariantResult `json:"variants"`
	Differences []Difference    `json:"differences"`
	Runs        []*Record       `json:"runs"`
}

// A Text is what was trained on.
type Text struct {
	Corpus      string `json:"corpus"` // as the user named it
	Fingerprint string `json:"fingerprint"`
	Bytes       int64  `json:"bytes"` // after decompression
	Tokens      int64  `json:"tokens"`
	TrainWords  int64  `json:"train_words"`
	Vocabulary  int    `json:"vocab"`
	Sentences   int64  `json:"sentences"`
}

// A Set is what was scored, by one metric.
type Set struct {
	Task    string `json:"task"`
	Dataset string `json:"dataset"`
	Metric  string `json:"metric"`
	Found   int    `json:"found"`
	Total   int    `json:"total"`
	Main    bool   `json:"main"` // it counts for the mean score and is shown over time
}

// Which table of the report a set stands in.
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

// A Spread is a mean over seeds.
type Spread struct {
	Mean      evaluate.Score `json:"mean"`
	Deviation evaluate.Score `json:"deviation"` // of the sample; null with one seed
	Low       evaluate.Score `json:"low"`       // smallest
	High      evaluate.Score `json:"high"`      // largest
}

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
		Mean: evaluate.Score(mean), Deviation: evaluate.Score(math.Sqrt(squares / (n - 1))), // NaN with one
		Low: evaluate.Score(slices.Min(values)), High: evaluate.Score(slices.Max(values)),
	}
}

// A VariantResult is the result of a variant over its seeds.
type VariantResult struct {
	Variant
	Settings       map[string]string `json:"settings"` // of the first seed
	Memory         runfolder.Memory  `json:"memory_bytes"`
	SecondsMatrix  Spread            `json:"seconds_matrix"`
	SecondsTrain   Spread            `json:"seconds_train"`
	WordsPerSecond Spread            `json:"words_per_second"`
	PairsPerSecond Spread            `json:"pairs_per_second"`
	Pairs          Spread            `json:"pairs"`
	Epochs         Spread            `json:"epochs"`
	Score          Spread            `json:"score"`  // mean of the sets' main metrics
	Scores         []Spread          `json:"scores"` // of Result.Sets
	// Intervals of the main metrics over the choice of items; the value is
	// null where a set has no single items.
	Intervals []evaluate.Interval `json:"intervals"`
	Curve     []CurvePoint        `json:"curve"`
}

// A CurvePoint is a variant at one observation, over its seeds.
type CurvePoint struct {
	Seconds Spread        `json:"seconds"` // building M and training
	Pairs   Spread        `json:"pairs"`
	Score   Spread        `json:"score"`
	Scores  []Spread      `json:"scores"` // of the main sets
	Bands   []BandOfSeeds `json:"bands"`
}

// BandOfSeeds is the losses of a frequency band, means over the seeds.
type BandOfSeeds struct {
	words.Band
	Means     Spread `json:"means"`     // of the words' mean loss
	Variances Spread `json:"variances"` // of the variance between words
}

// A Difference is what sets two variants apart on one set.
type Difference struct {
	Task       string            `json:"task"`
	Dataset    string            `json:"dataset"`
	Metric     string            `json:"metric"`
	Items      int               `json:"items"` // that all variants know
	Variant    string            `json:"variant"`
	Against    string            `json:"against"`
	Difference evaluate.Interval `json:"difference"`
	P          float64           `json:"p"`    // two-sided, by bootstrap
	Holm       float64           `json:"holm"` // adjusted to the number of sets and variants compared with the first
}

// bootstrapSamples gives p-values down to 0.0004.
const bootstrapSamples = 5000

// Summarize computes everything that a report says.
func Summarize(f *Finished, version, command string) (*Result, error) {
	stats := f.Text.Stats
	r := &Result{
		Version: version, Command: command, Machine: bench.ThisMachine(),
		Data: f.Options.Data, Budget: f.Options.Budget.String(), Seeds: f.Options.Seeds, Points: f.Options.Points,
		Text: Text{
			Corpus: f.corpus(), Fingerprint: fmt.Sprintf("%016x", f.Text.Fingerprint()),
			Bytes: stats.Bytes, Tokens: stats.Tokens, TrainWords: stats.TokensUsed, Vocabulary: f.Text.Vocabulary.Len(), Sentences: stats.Sentences,
		},
	}
	for _, record := range f.Records {
		r.Runs = append(r.Runs, f.reported(record))
	}
	for _, s := range r.Runs[0].Scores {
		r.Sets = append(r.Sets, Set{s.Task, s.Dataset, s.Metric, s.Found, s.Total, isMain(s)})
	}
	for _, v := range f.Options.Variants() {
		r.Variants = append(r.Variants, r.variant(v, r.runsOf(v)))
	}
	return r, r.bootstrap(f)
}

// corpus names the corpus as the user did: a report is passed on, and the path on
// this machine says nothing elsewhere.
func (f *Finished) corpus() string { return cmp.Or(f.Options.Corpus, f.Options.Settings["corpus"]) }

// reported returns a record as the report has it: all scores in one list.
func (f *Finished) reported(record *Record) *Record {
	r := *record
	r.Settings = maps.Clone(r.Settings)
	r.Settings["corpus"] = f.corpus()
	if f.Options.Classify {
		r.Scores = slices.Concat(r.Scores, r.Classes)
	}
	r.Classes, r.ClassSets = nil, nil
	return &r
}

// runsOf returns the runs of a variant, one for each seed.
func (r *Result) runsOf(v Variant) []*Record {
	var runs []*Record
	for _, run := range r.Runs {
		if run.Variant == v {
			runs = append(runs, run)
		}
	}
	return runs
}

// over collects a number of each record.
func over[T any](records []T, number func(T) float64) Spread {
	var values []float64
	for _, r := range records {
		values = append(values, number(r))
	}
	return spreadOf(values)
}

// sum sums up the records of a variant.
func (r *Result) variant(v Variant, records []*Record) VariantResult {
	s := VariantResult{Variant: v, Settings: records[0].Settings, Memory: records[0].Summary.Memory}
	s.SecondsMatrix = over(records, func(r *Record) float64 { return r.Summary.SecondsMatrix })
	s.SecondsTrain = over(records, func(r *Record) float64 { return r.Summary.SecondsTrain })
	s.WordsPerSecond = over(records, func(r *Record) float64 { return r.Summary.WordsPerSecond })
	s.PairsPerSecond = over(records, func(r *Record) float64 { return r.Summary.PairsPerSecond })
	s.Pairs = over(records, func(r *Record) float64 { return r.Summary.PairsPerSecond * r.Summary.SecondsTrain })
	s.Epochs = over(records, func(r *Record) float64 { return r.Summary.Epochs })
	for i := range r.Sets {
		s.Scores = append(s.Scores, over(records, func(r *Record) float64 { return float64(r.Scores[i].Score) }))
	}
	s.Score = over(records, func(r *Record) float64 {
		return meanScore(slices.DeleteFunc(slices.Clone(r.Scores), func(s evaluate.Result) bool { return !isMain(s) }))
	})
	moments := len(records[0].Points)
	for _, record := range records {
		moments = min(moments, len(record.Points))
	}
	for k := range moments {
		s.Curve = append(s.Curve, curvePointOf(records, k))
	}
	return s
}

// meanScore is the mean of the scores that there are.
func meanScore(scores []evaluate.Result) float64 {
	var values []float64
	for _, s := range scores {
		values = append(values, float64(s.Score))
	}
	return float64(spreadOf(values).Mean)
}

// curvePointOf sums up observation k.
func curvePointOf(records []*Record, k int) CurvePoint {
	m := CurvePoint{
		Seconds: over(records, func(r *Record) float64 { return r.Summary.SecondsMatrix + r.Points[k].Seconds }),
		Pairs:   over(records, func(r *Record) float64 { return r.Points[k].Pairs }),
		Score:   over(records, func(r *Record) float64 { return meanScore(r.Points[k].Scores) }),
	}
	for i := range records[0].Points[k].Scores {
		m.Scores = append(m.Scores, over(records, func(r *Record) float64 { return float64(r.Points[k].Scores[i].Score) }))
	}
	for i, first := range records[0].Points[k].Bands {
		band := BandOfSeeds{Band: first}
		band.Means = over(records, func(r *Record) float64 { return r.Points[k].Bands[i].Mean })
		band.Variances = over(records, func(r *Record) float64 { return r.Points[k].Bands[i].Variance })
		band.Mean, band.Variance = float64(band.Means.Mean), float64(band.Variances.Mean)
		for q := range band.Quantiles {
			band.Quantiles[q] = float64(over(records, func(r *Record) float64 { return r.Points[k].Bands[i].Quantiles[q] }).Mean)
		}
		m.Bands = append(m.Bands, band)
	}
	return m
}
