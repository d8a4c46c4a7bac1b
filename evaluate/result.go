package evaluate

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A Result is one score. Found of Total items (pairs, questions) have all
// their words in the table. Composed counts further items: their unknown words
// were scored with vectors composed of the words' spelling; Source says of what. Score is of all of these; the other two
// are of the items that were found, and of the further ones, if both can be scored.
type Result struct {
	Task    string `json:"task"`    // see the Task constants
	Dataset string `json:"dataset"` // "WS-353"; of one section "Google/capital-world"
	Metric  string `json:"metric"`  // see the Metric constants
	Score   Score  `json:"score"`
	Found   int    `json:"found"`
	Total   int    `json:"total"`

	Composed      int    `json:"composed,omitempty"`
	Source        string `json:"source,omitempty"` // "cnn"
	FoundScore    Score  `json:"found_score,omitzero"`
	ComposedScore Score  `json:"composed_score,omitzero"`

	// Deviation is the standard deviation of several scores, if Score is their
	// mean; 0 if there is one score, or all are equal.
	Deviation Score `json:"deviation,omitzero"`
}

// The tasks.
const (
	TaskSimilarity     = "similarity"
	TaskAnalogy        = "analogy"
	TaskCategorization = "categorization"
	TaskClassification = "classification" // of sentences
	TaskNodes          = "nodes"          // labels of a graph's nodes
	TaskLinks          = "links"          // edges of a graph
)

// The metrics of similarity. The metrics of analogy are the names of the methods
// (words.Method): the share of right answers over all questions (micro), and with
// MacroSuffix the mean of the sections' shares.
const (
	MetricSpearman = "spearman"
	MetricPearson  = "pearson"
	MacroSuffix    = "-macro"
)

// The metrics of the other tasks.
const (
	MetricPurity      = "purity"   // of categorization
	MetricAccuracy    = "accuracy" // of classification: the share of sentences whose class is found
	MetricMicroF1     = "micro-f1" // of nodes
	MetricMacroF1     = "macro-f1"
	ThresholdSuffix   = "-threshold"
	PairsPrefix       = "pairs-"
	MetricCosineAUC   = "cosine-auc" // of links
	MetricHadamardAUC = "hadamard-auc"
	MetricHadamardF1  = "hadamard-micro-f1"
	MetricConcatF1    = "concatenation-micro-f1"
	MetricMRR         = "mrr" // of the nodes of links, each seen from the other; behind one of these prefixes
	HitsPrefix        = "hits@"
	AllPrefix         = "all-"
	SampledPrefix     = "sampled-"
)

// A Score is a correlation or a share of right answers. It is NaN if nothing can
// be scored: fewer than two pairs, constant judgements, no question with known
// words. NaN is written "n/a", and null in JSON.
type Score float64

// NoScore is the score of a set that cannot be scored.
var NoScore = Score(math.NaN())

// Valid reports whether there is a score.
func (s Score) Valid() bool { return !math.IsNaN(float64(s)) }

// String returns three decimals, with a true minus, or "n/a".
func (s Score) String() string {
	if !s.Valid() {
		return "n/a"
	}
	text := strconv.FormatFloat(float64(s), 'f', 3, 64)
	if text == "-0.000" { // rounded to zero, which has no sign
		return text[1:]
	}
	return strings.Replace(text, "-", "−", 1)
}

// Percent returns a fraction with one decimal, or "n/a".
func (s Score) Percent() string {
	if !s.Valid() {
		return s.String()
	}
	return fmt.Sprintf("%.1f%%", 100*float64(s))
}

// MarshalJSON returns a number, or null.
func (s Score) MarshalJSON() ([]byte, error) {
	if !s.Valid() {
		return []byte("null"), nil
	}
	return json.Marshal(float64(s))
}

// UnmarshalJSON is the opposite of MarshalJSON.
func (s *Score) UnmarshalJSON(b []byte) error {
	value := math.NaN()
	if err := json.Unmarshal(b, &value); err != nil { // null leaves it as it is
		return err
	}
	*s = Score(value)
	return nil
}

// Fraction returns right/count, or NoScore if count is 0.
func Fraction(right, count int) Score {
	if count == 0 {
		return NoScore
	}
	return Score(float64(right) / float64(count))
}
