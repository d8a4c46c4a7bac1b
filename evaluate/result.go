package evaluate

import (
	"encoding/json"
	"math"
	"strconv"
)

// A Result is one score. Found of Total items (pairs, questions) have all
// their words in the table.
type Result struct {
	Task    string `json:"task"`    // see the Task constants
	Dataset string `json:"dataset"` // "WS-353"; of one section "Google/capital-world"
	Metric  string `json:"metric"`  // see the Metric constants
	Score   Score  `json:"score"`
	Found   int    `json:"found"`
	Total   int    `json:"total"`

	// Deviation is the standard deviation of the scores that Score is the mean
	// of; 0 if it is a single one, or they are all the same.
	Deviation Score `json:"deviation,omitzero"`
}

// newResult returns a single score.
func newResult(task, dataset, metric string, score Score, found, total int) Result {
	return Result{Task: task, Dataset: dataset, Metric: metric, Score: score, Found: found, Total: total}
}

// The tasks.
const (
	TaskSimilarity     = "similarity"
	TaskAnalogy        = "analogy"
	TaskCategorization = "categorization"
	TaskClassification = "classification" // of sentences, see Classification
	TaskNodes          = "nodes"          // labels of a graph's nodes, see Nodes
	TaskLinks          = "links"          // edges of a graph, see Links
)

// The metrics of similarity. Those of analogy are the [Method] names: the
// share of right answers over all questions (micro), and with MacroSuffix the
// mean of the sections' shares.
const (
	MetricSpearman = "spearman"
	MetricPearson  = "pearson"
	MacroSuffix    = "-macro"
)

// The metrics of the other tasks.
const (
	MetricPurity      = "purity"   // of categorization
	MetricMicroF1     = "micro-f1" // of nodes
	MetricMacroF1     = "macro-f1"
	ThresholdSuffix   = "-threshold"
	PairsPrefix       = "pairs-"
	MetricCosineAUC   = "cosine-auc" // of links
	MetricHadamardAUC = "hadamard-auc"
	MetricHadamardF1  = "hadamard-micro-f1"
)

// A Score is a correlation or a share of right answers. It is NaN where there
// is none: fewer than two pairs, constant judgements, no question with known
// words. NaN is written "n/a", and null in JSON.
type Score float64

// NoScore is the score of what cannot be scored.
var NoScore = Score(math.NaN())

// Valid reports whether there is a score.
func (s Score) Valid() bool { return !math.IsNaN(float64(s)) }

// String returns three decimals, or "n/a".
func (s Score) String() string {
	if !s.Valid() {
		return "n/a"
	}
	return strconv.FormatFloat(float64(s), 'f', 3, 64)
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

// share returns right/count, or NoScore when count is 0.
func share(right, count int) Score {
	if count == 0 {
		return NoScore
	}
	return Score(float64(right) / float64(count))
}
