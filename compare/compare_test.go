package compare

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/compare/experiment"
	"github.com/w2vcl/w2vcl/evaluate"
	"github.com/w2vcl/w2vcl/sequential"
	"github.com/w2vcl/w2vcl/train"
	"github.com/w2vcl/w2vcl/train/progress"
	"github.com/w2vcl/w2vcl/train/settings"
)

// smallComparison writes a text of 60 words, three topics of 20, and sets that
// ask for the topics.
func smallComparison(t *testing.T, modes ...string) experiment.Options {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", dir) // of measured lengths
	random := rand.New(rand.NewPCG(1, 1))
	var text, pairs, questions strings.Builder
	word := func(topic int) int { return topic + 3*int(20*math.Pow(random.Float64(), 1.5)) }
	for range 600 {
		topic := random.IntN(3)
		for range 10 {
			fmt.Fprintf(&text, "w%d ", word(topic))
		}
		text.WriteByte('\n')
	}
	questions.WriteString(": topics\n")
	for range 40 {
		a, b := random.IntN(3), random.IntN(3)
		score := 1
		if a == b {
			score = 9
		}
		fmt.Fprintf(&pairs, "w%d w%d %d\n", word(a), word(b), score)
		fmt.Fprintf(&questions, "w%d w%d w%d w%d\n", word(a), word(a), word(b), word(b))
	}
	for name, content := range map[string]string{"text": text.String(), "sets/pairs.txt": pairs.String(), "sets/questions.txt": questions.String()} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o := experiment.Options{
		Variants: experiment.Modes(modes), Seeds: 2, Points: 3, Data: filepath.Join(dir, "sets"), Out: filepath.Join(dir, "out"),
		Settings: map[string]string{"corpus": filepath.Join(dir, "text"), "dim": "8", "threads": "1"},
	}
	if slices.Contains(modes, settings.ModeCL) {
		o.Settings["model"], o.Settings["contexts"] = settings.ModelSkipGram, "12,24"
	}
	return o
}

// reported executes a comparison and writes its report, most of which are figures for papers.
func reported(t *testing.T, o experiment.Options, p *progress.Progress) *Result {
	t.Helper()
	r := summarized(t, o, p)
	if err := r.Write(o.Out); err != nil {
		t.Fatal(err)
	}
	return r
}

func summarized(t *testing.T, o experiment.Options, p *progress.Progress) *Result {
	t.Helper()
	f, err := Execute(t.Context(), o, Means{Progress: p})
	if err != nil {
		t.Fatal(err)
	}
	r, err := Summarize(f, "test", "w2vcl compare")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestComparison(t *testing.T) {
	o := smallComparison(t, settings.ModeCL, settings.ModeVanilla, string(sequential.PWord2Vec))
	r := reported(t, o, nil)
	if len(r.Variants) != 4 || len(r.Runs) != 8 {
		t.Fatalf("%d variants, %d runs", len(r.Variants), len(r.Runs))
	}
	for _, v := range r.Variants {
		if len(v.Curve) != 3 || !v.Score.Deviation.Valid() {
			t.Errorf("%s: %d points, deviation %v", v.Name, len(v.Curve), v.Score.Deviation)
		}
		// The last observation saw what the run saved.
		last := v.Curve[len(v.Curve)-1]
		if math.Abs(float64(last.Score.Mean-v.Score.Mean)) > 1e-9 {
			t.Errorf("%s: score %v at the last observation, %v at the end", v.Name, last.Score.Mean, v.Score.Mean)
		}
	}
	if n := len(r.Differences); n != 3*6 {
		t.Errorf("%d differences, want six pairs on two sets and on average", n)
	}
	for _, d := range r.Differences[6:] { // the score of single items is that of the whole set
		of := func(name string) evaluate.Score {
			i := slices.IndexFunc(r.Variants, func(v VariantResult) bool { return v.Name == name })
			return r.Variants[i].Scores[slices.IndexFunc(r.Sets, d.of)].Mean
		}
		if math.Abs(float64(d.Difference.Value-of(d.Variant)+of(d.Against))) > 1e-9 {
			t.Errorf("%s, %s: %v by items", d.Variant, d.Dataset, d.Difference.Value)
		}
	}
	checkFiles(t, o, r)
	checkPage(t, read(t, filepath.Join(o.Out, PageFile)))

	before := read(t, filepath.Join(o.Out, ScoresFile))
	var shown bytes.Buffer
	summarized(t, o, progress.New(&shown))
	if done := strings.Count(shown.String(), "done before"); done != 8 || strings.Contains(shown.String(), "Trained") {
		t.Errorf("once more:\n%s", &shown)
	}
	if read(t, filepath.Join(o.Out, ScoresFile)) != before {
		t.Error("once more: other scores")
	}
}

func checkFiles(t *testing.T, o experiment.Options, r *Result) {
	t.Helper()
	var again Result
	if err := json.Unmarshal([]byte(read(t, filepath.Join(o.Out, ReportFile))), &again); err != nil {
		t.Error(err)
	}
	if len(again.Runs) != len(r.Runs) || again.Variants[0].Score.Mean != r.Variants[0].Score.Mean {
		t.Error("report.json is not the result")
	}
	for name, lines := range map[string]int{
		ScoresFile: 8 * len(r.Sets), CurveFile: 8 * 3 * 2, BandsFile: 8 * 3 * bands,
	} {
		rows, err := csv.NewReader(strings.NewReader(read(t, filepath.Join(o.Out, name)))).ReadAll()
		if err != nil || len(rows) != 1+lines {
			t.Errorf("%s: %d lines (%v), want %d", name, len(rows), err, 1+lines)
			continue
		}
		if name == ScoresFile {
			continue
		}
		point := slices.Index(rows[0], "point")
		for i, row := range rows[1:] {
			perPoint := lines / (8 * o.Points)
			if want := strconv.Itoa(1 + i/perPoint%o.Points); row[point] != want {
				t.Fatalf("%s, line %d: point %s, want %s", name, i+2, row[point], want)
			}
		}
	}
}

// checkPage makes sure that the page is sound and needs nothing else.
func checkPage(t *testing.T, page string) {
	t.Helper()
	if foreign := regexp.MustCompile(`(?i)https?:|<script s|<link|url\(|src=`).FindString(page); foreign != "" {
		t.Errorf("the page has %s in it", foreign)
	}
	if strings.Contains(page, "max-ngram") {
		t.Error("the page has settings of encoders that no run has")
	}
	if bad := regexp.MustCompile(`NaN|%!|ZgotmplZ|&lt;nil|\[\]`).FindString(page); bad != "" {
		t.Errorf("the page says %s", bad)
	}
	decoder := xml.NewDecoder(strings.NewReader(page[strings.Index(page, "<body>"):strings.Index(page, "</html>")]))
	decoder.Entity = xml.HTMLEntity
	charts := 0
	for {
		token, err := decoder.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("the page's body: %v", err)
		}
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == "svg" && e.Attr[0].Value == "chart" {
			charts++
		}
	}
	if charts != 2+2+2 { // quality, sets, values of contexts
		t.Errorf("%d charts", charts)
	}
}

// TestClasses scores sets of sentences, which can be asked for later and
// interrupted.
func TestClasses(t *testing.T) {
	o := smallComparison(t, settings.ModeCL)
	o.Settings["contexts"] = "60"
	random := rand.New(rand.NewPCG(5, 5))
	var sentences strings.Builder
	for i := range 200 {
		fmt.Fprintf(&sentences, "%d w%d w%d w%d other\n", i%2, i%2+3*random.IntN(10), i%2+3*random.IntN(10), i%2+3*random.IntN(10))
	}
	if err := os.WriteFile(filepath.Join(o.Data, "topics.all"), []byte(sentences.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	before := summarized(t, o, nil)
	o.Classify = true
	ctx, cancel := context.WithCancel(t.Context())
	w := &cancelWriter{text: "Classes of sentences", cancel: cancel}
	if _, err := Execute(ctx, o, Means{Progress: progress.New(w)}); !errors.Is(err, train.ErrInterrupted) {
		t.Errorf("error %v\n%s", err, &w.log)
	}
	cancel()
	r := reported(t, o, nil)
	last := len(r.Sets) - 1
	if set := r.Sets[last]; len(r.Sets) != len(before.Sets)+1 || set.Dataset != "topics" || set.Main || set.Found != 600 || set.Total != 800 {
		t.Fatalf("sets %+v", r.Sets)
	}
	v := r.Variants[0]
	if s := v.Scores[last]; s.Mean < 0.6 || s.Mean > 1 || !s.Deviation.Valid() {
		t.Errorf("scores %+v", v.Scores)
	}
	if v.Score != before.Variants[0].Score {
		t.Errorf("the mean score was %v, and is %v with sentences", before.Variants[0].Score, v.Score)
	}
	page := read(t, filepath.Join(o.Out, PageFile))
	if !strings.Contains(page, "<h2>Classes of sentences</h2>") {
		t.Error("the page has no table of them")
	}
	// Another set of sentences is scored anew; without any, there is nothing to ask for.
	path := filepath.Join(o.Data, "topics.all")
	if err := os.WriteFile(path, []byte(sentences.String()+"0 w1 w4\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if set := summarized(t, o, nil).Sets[last]; set.Total != 802 {
		t.Errorf("changed sentences: %+v", set)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := Execute(t.Context(), o, Means{}); err == nil || !strings.Contains(err.Error(), "no classification set found") {
		t.Errorf("without sentences: error %v", err)
	}
}
