package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/evaluate"
	"github.com/w2vcl/w2vcl/evaluate/dataset"
	"github.com/w2vcl/w2vcl/evaluate/words"
)

// An EvalResult says how fast one evaluation set is scored by one method. Reading
// the file and looking up the words are part of the time.
type EvalResult struct {
	Task    string `json:"task"`
	Dataset string `json:"dataset"`
	Method  string `json:"method"` // of analogies; "" for similarity
	Items   int    `json:"items"`  // pairs or questions whose words are known

	Seconds        Measurement `json:"seconds"`
	ItemsPerSecond float64     `json:"items_per_second"` // by the median

	// Bytes counts the bytes of the table that are read: two rows for a pair, and
	// all rows once for every section of an analogy set, because one pass answers
	// the questions of a section.
	Bytes          int64   `json:"bytes"`
	BytesPerSecond float64 `json:"bytes_per_second"`
}

// analogyMethods are measured one by one.
var analogyMethods = []words.Method{words.CosAdd, words.CosMul, words.LRCos}

// MeasureEval scores a table on every set in a folder (or one file), each as often
// as e asks. Files that are no sets are skipped. done, if not nil, is called with
// each result. If ctx is cancelled, the results until then come with the error.
func MeasureEval(ctx context.Context, t *embedding.Table, data string, e Effort, done func(EvalResult)) ([]EvalResult, error) {
	// Score all sets once. That reports bad sets and computes the unit vectors of
	// the table, which all measurements share.
	if _, _, err := words.Score(ctx, t, data, words.Options{Methods: analogyMethods[:1]}); err != nil {
		return nil, err
	}
	_, files, err := dataset.Files(data)
	if err != nil {
		return nil, err
	}
	var results []EvalResult
	for _, file := range files {
		for _, m := range methodsOf(ctx, t, file) {
			r, err := measureMethod(ctx, t, file, m, e)
			if err != nil {
				return results, err
			}
			if r.Items == 0 {
				continue
			}
			results = append(results, r)
			if done != nil {
				done(r)
			}
		}
	}
	if err := ctx.Err(); err != nil {
		return results, err
	}
	if len(results) == 0 {
		return nil, fmt.Errorf("%s: no set in it has items whose words are all in the vocabulary", data)
	}
	return results, nil
}

// methodsOf returns the methods to measure on a file, none if it is no set. All sets
// were read without an error before.
func methodsOf(ctx context.Context, t *embedding.Table, file string) []words.Method {
	found, _, err := words.Score(ctx, t, file, words.Options{Methods: analogyMethods[:1]})
	switch {
	case err != nil || len(found) == 0:
		return nil
	case found[0].Task == evaluate.TaskSimilarity:
		return analogyMethods[:1] // similarity uses none
	default:
		return analogyMethods
	}
}

// measureMethod scores one set by one method again and again.
func measureMethod(ctx context.Context, t *embedding.Table, file string, m words.Method, e Effort) (EvalResult, error) {
	var (
		r       EvalResult
		seconds []float64
	)
	for range e.Repeat {
		runs := 0
		start := time.Now()
		for runs == 0 || time.Since(start) < e.Time {
			found, _, err := words.Score(ctx, t, file, words.Options{Methods: []words.Method{m}, Sections: true})
			if err != nil {
				return r, err
			}
			if runs == 0 {
				r = describeEval(t, found, m)
			}
			runs++
		}
		seconds = append(seconds, time.Since(start).Seconds()/float64(runs))
	}
	r.Seconds = Measured(seconds)
	r.ItemsPerSecond = rate(float64(r.Items), r.Seconds.Median)
	r.BytesPerSecond = rate(float64(r.Bytes), r.Seconds.Median)
	return r, nil
}

// describeEval describes a set by its results: the one of the whole set, then, for
// analogies, those of the sections.
func describeEval(t *embedding.Table, found []evaluate.Result, m words.Method) EvalResult {
	if len(found) == 0 { // LRCos on a set without sections
		return EvalResult{}
	}
	r := EvalResult{Task: found[0].Task, Dataset: found[0].Dataset, Items: found[0].Found}
	row := 4 * int64(t.Dim)
	if r.Task == evaluate.TaskSimilarity {
		r.Bytes = 2 * row * int64(r.Items)
		return r
	}
	r.Method = string(m)
	passes := int64(0)
	for _, section := range found[1:] {
		if section.Metric == r.Method && section.Found > 0 {
			passes++
		}
	}
	r.Bytes = max(passes, 1) * row * int64(t.Len())
	return r
}

// RandomTable returns random vectors for every word of the evaluation sets in a
// folder (or one file), in lower case, and for made-up words up to the given size of
// the vocabulary.
func RandomTable(ctx context.Context, data string, vocabulary, dim int, seed uint64) (*embedding.Table, error) {
	sets, _, err := dataset.Find(ctx, data, "")
	if err != nil {
		return nil, err
	}
	var names []string
	seen := map[string]bool{}
	add := func(words ...string) {
		for _, word := range words {
			if word = strings.ToLower(word); !seen[word] {
				seen[word] = true
				names = append(names, word)
			}
		}
	}
	for _, s := range sets {
		for _, p := range s.Pairs {
			add(p.First, p.Second)
		}
		for _, m := range s.Members {
			add(m.Word)
		}
		for _, section := range s.Sections {
			for _, q := range section.Questions {
				add(q.A, q.B, q.C, q.D)
			}
		}
	}
	for i := 0; len(names) < vocabulary; i++ {
		add("w2vcl-bench-" + strconv.Itoa(i))
	}
	values := make([]float32, len(names)*dim)
	random := rand.New(rand.NewPCG(seed, 1))
	for i := range values {
		values[i] = float32(random.NormFloat64())
	}
	return embedding.NewTable(names, dim, values)
}
