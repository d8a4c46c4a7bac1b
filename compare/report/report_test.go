package report

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"html/template"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// parse checks that a chart is well-formed and draws nothing outside of its area,
// and returns its text.
func parse(t *testing.T, svg template.HTML, height float64) string {
	t.Helper()
	var text strings.Builder
	decoder := xml.NewDecoder(strings.NewReader(string(svg)))
	for {
		token, err := decoder.Token()
		if err == io.EOF {
			return text.String()
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, svg)
		}
		switch token := token.(type) {
		case xml.CharData:
			text.Write(token)
			text.WriteByte('|')
		case xml.StartElement:
			checkInside(t, token, height)
		}
	}
}

func checkInside(t *testing.T, e xml.StartElement, height float64) {
	t.Helper()
	limits := map[string]float64{"x": width, "x1": width, "x2": width, "cx": width, "y": height, "y1": height, "y2": height, "cy": height}
	for _, a := range e.Attr {
		if limit, ok := limits[a.Name.Local]; ok {
			checkCoordinate(t, e.Name.Local+" "+a.Name.Local, a.Value, limit)
		}
		if a.Name.Local == "points" {
			for i, value := range strings.FieldsFunc(a.Value, func(r rune) bool { return r == ' ' || r == ',' }) {
				checkCoordinate(t, "points", value, []float64{width, height}[i%2])
			}
		}
		if (a.Name.Local == "width" || a.Name.Local == "height") && strings.HasPrefix(a.Value, "-") {
			t.Errorf("%s of %s is %s", a.Name.Local, e.Name.Local, a.Value)
		}
	}
}

func checkCoordinate(t *testing.T, what, value string, limit float64) {
	t.Helper()
	if at, err := strconv.ParseFloat(value, 64); err != nil || !(at >= 0 && at <= limit) {
		t.Errorf("%s is %s, outside of 0 to %v", what, value, limit)
	}
}

func TestAxis(t *testing.T) {
	for _, test := range []struct {
		name   string
		values []float64
		log    bool
		want   string
	}{
		{"scores", []float64{0.31, 0.47}, false, "0.30 0.35 0.40 0.45 0.50"},
		{"seconds", []float64{0, 118}, false, "0 20 40 60 80 100 120"},
		{"both sides of zero", []float64{-0.04, 0.11}, false, "−0.050 −0.025 0 0.025 0.050 0.075 0.100 0.125"},
		{"steps of 2.5", []float64{0, 1.3}, false, "0 0.25 0.50 0.75 1.00 1.25 1.50"},
		{"large", []float64{0, 1.5e9}, false, "0 250M 500M 750M 1B 1.25B 1.5B"},
		{"one value", []float64{5}, false, "4.4 4.6 4.8 5.0 5.2 5.4 5.6"},
		{"no number", []float64{math.NaN(), math.Inf(1)}, false, "0 0.2 0.4 0.6 0.8 1.0"},
		{"powers", []float64{1024, 60000}, true, "1024 2048 4096 8192 16384 32768 65536"},
		{"many powers", []float64{1, 1 << 20}, true, "1 10 100 1k 10k 100k 1M"},
		{"large powers", []float64{1.11e12, 104e12}, true, "1T 2T 5T 10T 20T 50T 100T 200T"},
		{"a decade", []float64{2.1e6, 4.9e6}, true, "2M 5M"},
		{"many decades", []float64{1e-9, 1e9}, true, "1e-09 1e-06 0.001 1 1k 1M 1B"},
		{"one power", []float64{256}, true, "128 256 512"},
	} {
		a := newAxis(test.values, 0, 100, 6, test.log)
		var labels []string
		for _, tick := range a.ticks {
			labels = append(labels, a.label(tick))
		}
		if got := strings.Join(labels, " "); got != test.want {
			t.Errorf("%s: ticks %s, want %s", test.name, got, test.want)
		}
	}
}

// TestAxisHoldsItsValues: every value is between the ends, and the number of ticks
// is neither too small nor too large.
func TestAxisHoldsItsValues(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		scale := math.Pow(10, 12*random.Float64()-6)
		values := []float64{scale * random.NormFloat64(), scale * random.NormFloat64()}
		for _, log := range []bool{false, true} {
			if log {
				values = []float64{math.Abs(values[0]), math.Abs(values[1])}
			}
			a := newAxis(values, 10, 110, 5, log)
			for _, v := range append(values, a.ticks...) {
				if at := a.at(v); at < 10-1e-6 || at > 110+1e-6 {
					t.Fatalf("log %v: %v of %v is at %v", log, v, values, at)
				}
			}
			if n := len(a.ticks); n < 3 && !log || n < 2 || n > 8 {
				t.Fatalf("log %v: %d ticks for %v", log, n, values)
			}
		}
	}
}

func TestShort(t *testing.T) {
	for x, want := range map[float64]string{
		0: "0", 0.125: "0.125", 0.0001: "0.0001", 12.34: "12.3", 999.4: "999", 1000: "1k", 16700000: "16.7M", 2.5e9: "2.5B", 3e15: "3000T", -1500: "−1.5k",
	} {
		if got := Short(x); got != want {
			t.Errorf("Short(%v) = %s, want %s", x, got, want)
		}
	}
}

// TestLineChart draws lines with and without spread, values that are no numbers,
// and names with characters that HTML uses itself.
func TestLineChart(t *testing.T) {
	nan := math.NaN()
	chart := LineChart{Title: `<a> & "b"`, X: "x < y", Y: "y", Series: []Series{
		{Name: "<first>", Points: []Point{{0, 1, 0.5, 2}, {1, 2, 2, 2}, {2, nan, nan, nan}}},
		{Name: "second", Color: 10, Points: []Point{{3, -1, -1, -1}}},
		{Name: "empty"},
	}}
	svg := chart.SVG()
	text := parse(t, svg, height)
	if !strings.Contains(text, "x < y") || !strings.Contains(text, "<first>: 1 at 0 (0.5 to 2)") {
		t.Errorf("text %q", text)
	}
	for part, want := range map[string]int{"<circle": 3, "<polyline": 2, "<polygon": 1, `class="line s1 d1"`: 1} {
		if got := strings.Count(string(svg), part); got != want {
			t.Errorf("%d of %s, want %d", got, part, want)
		}
	}
	for _, empty := range []LineChart{{}, {Series: []Series{{Points: []Point{{1, nan, nan, nan}}}}}} {
		if text := parse(t, empty.SVG(), height); !strings.Contains(text, "nothing to show") {
			t.Errorf("an empty chart says %q", text)
		}
	}
}

func TestLineChartRandom(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	for range 50 {
		chart := LineChart{Log: random.IntN(2) == 0}
		for range random.IntN(12) {
			s := Series{Color: random.IntN(30)}
			for range random.IntN(10) {
				y := 100 * random.NormFloat64()
				s.Points = append(s.Points, Point{1 + 1e5*random.Float64(), y, y - random.Float64(), y + random.Float64()})
			}
			chart.Series = append(chart.Series, s)
		}
		parse(t, chart.SVG(), height)
	}
}

// TestLabels: names at the ends of lines do not cover one another, and long ones are cut.
func TestLabels(t *testing.T) {
	chart := LineChart{}
	for i := range 15 {
		chart.Series = append(chart.Series, Series{Name: fmt.Sprintf("%d of a name that is long", i), Points: []Point{{1, 0.01 * float64(i), 0, 0}}})
	}
	parse(t, chart.SVG(), height)
	before := 0.0
	for label := range strings.SplitSeq(string(chart.SVG()), `class="label `) {
		var x, y float64
		if _, at, ok := strings.Cut(label, ` x="`); ok && strings.Contains(label, "…") {
			if _, err := fmt.Sscanf(at, `%f" y="%f"`, &x, &y); err != nil || y < before+labelRow-0.2 {
				t.Errorf("a name is at %v, the one before at %v (%v)", y, before, err)
			}
			before = y
		}
	}
	if before == 0 {
		t.Error("no names")
	}
}

// TestManyLabels: names leave out the words that all have, and of very many names there are those of the highest lines.
func TestManyLabels(t *testing.T) {
	chart := LineChart{}
	for i := range 40 {
		chart.Series = append(chart.Series, Series{Name: fmt.Sprintf("cl window=%d", i), Points: []Point{{1, float64(i), 0, 0}}})
	}
	svg := string(chart.SVG())
	if !strings.Contains(svg, "</title>window=39<") || strings.Contains(svg, "</title>window=0<") || !strings.Contains(svg, ">and 19 below<") {
		t.Error(svg)
	}
}

func TestPage(t *testing.T) {
	var page bytes.Buffer
	if err := Page(&page, "a < b", "<p>body</p>"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<title>a &lt; b</title>", "<p>body</p>", "prefers-color-scheme: dark", fmt.Sprintf("--c%d:", colors-1)} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if slices.ContainsFunc([]string{"http:", "https:", "url(", "@import", "<script src"}, func(s string) bool { return strings.Contains(page.String(), s) }) {
		t.Error("the page needs something from elsewhere")
	}
}
