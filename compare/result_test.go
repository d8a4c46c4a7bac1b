package compare

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/sequential"
	"github.com/w2vcl/w2vcl/settings"
)

// TestReportNamesTheText: the report names the text as the user did, not by a path of
// this machine.
func TestReportNamesTheText(t *testing.T) {
	o := smallComparison(t, string(sequential.PWord2Vec))
	o.Seeds, o.Corpus = 1, "the text"
	r := summarized(t, o, nil)
	path := o.Settings["corpus"]
	if r.Text.Corpus != "the text" || r.Text.Bytes != int64(len(read(t, path))) {
		t.Errorf("text %+v", r.Text)
	}
	for _, name := range []string{ReportFile, PageFile} {
		if strings.Contains(read(t, filepath.Join(o.Out, name)), path) {
			t.Errorf("%s has the path", name)
		}
	}
	if !strings.Contains(read(t, filepath.Join(o.Out, runsFolder, "pword2vec-seed1.json")), path) {
		t.Error("the record of the run has lost the path, which resuming needs")
	}
}

func TestLimitedBudgets(t *testing.T) {
	o := smallComparison(t, settings.ModeCL, string(sequential.PWord2Vec))
	o.Seeds, o.Contexts = 1, []int{12}
	o.Budget = Budget{BudgetIterations, 60} // five epochs
	r := summarized(t, o, nil)
	cl, other := float64(r.Variants[0].Pairs.Mean), float64(r.Variants[1].Pairs.Mean)
	if other < cl || other > 1.3*cl { // a block of this text is all of it
		t.Errorf("%v pairs, cl trained %v", other, cl)
	}
	o = smallComparison(t, settings.ModeCL, string(sequential.PWord2Vec))
	o.Seeds, o.Contexts = 1, []int{12}
	o.Budget = Budget{BudgetSeconds, 0.2}
	r = summarized(t, o, nil)
	for _, v := range r.Variants {
		if s := float64(v.SecondsTrain.Mean); s < 0.2 || s > 30 { // seconds, where the machine is busy
			t.Errorf("%s trained for %v seconds of 0.2", v.Name, s)
		}
		if len(v.Curve) == 0 {
			t.Errorf("%s was not observed", v.Name)
		}
	}
}

func TestSpread(t *testing.T) {
	s := spreadOf([]float64{1, math.NaN(), 2, 6})
	if s.Mean != 3 || math.Abs(float64(s.Deviation)-math.Sqrt(7)) > 1e-12 || s.Low != 1 || s.High != 6 {
		t.Errorf("%+v", s)
	}
	if one := spreadOf([]float64{4}); one.Mean != 4 || one.Deviation.Valid() {
		t.Errorf("of one value %+v", one)
	}
	if none := spreadOf(nil); none.Mean.Valid() {
		t.Errorf("of nothing %+v", none)
	}
}

// TestHolm compares with R's p.adjust(c(.01, .04, .03, .005), "holm").
func TestHolm(t *testing.T) {
	var family []*Difference
	for _, p := range []float64{.01, .04, .03, .005} {
		family = append(family, &Difference{P: p})
	}
	holm(slices.Clone(family))
	for i, want := range []float64{.03, .06, .06, .02} {
		if got := family[i].Holm; math.Abs(got-want) > 1e-12 {
			t.Errorf("p %v becomes %v, want %v", family[i].P, got, want)
		}
	}
}
