package ranks

import (
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/w2vcl/w2vcl/graph"
	"github.com/w2vcl/w2vcl/graph/split"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/sequential/joint"
	"github.com/w2vcl/w2vcl/train/settings"
	"github.com/w2vcl/w2vcl/train/trainer"
)

// latency is that of a call between two hosts; more hosts take it log2 R times.
const latency = 20e-6

// A Network joins hosts.
type Network struct {
	Hosts    int     // with a rank each
	Gigabits float64 // a second, that a host sends
}

// Measured is what one host takes.
type Measured struct {
	Words   int     // V
	Tokens  int64   // of the text that are trained on, one epoch
	Samples float64 // of a word in an iteration of mode cl, on average; 0: one
	Units   int
	Seconds float64 // of a unit
	Text    int64   // bytes of vocabulary, and of the text if training reads it
	Matrix  int64   // bytes of M

	// Of mode cl with model cbow:
	Places   float64 // of an iteration
	Training int64   // bytes of tables, moments and work
	Moments  int64   // bytes of these
}

// A Forecast is what a run on several hosts takes.
type Forecast struct {
	Hosts          int     `json:"hosts"`
	Gigabits       float64 `json:"network_gigabits"`
	SecondsPerUnit float64 `json:"seconds_per_iteration"`
	SecondsTrain   float64 `json:"seconds_train"`
	Speedup        float64 `json:"speedup"`        // of training, over one host
	BytesPerUnit   float64 `json:"bytes_per_unit"` // that a host sends
	Memory         int64   `json:"memory_bytes"`   // of each host in training
	unit           string
}

// Predict estimates on several hosts a training that was measured on one. It returns an error if several hosts cannot do the run.
//
// A unit that takes T seconds on one host takes on R of them
//
//	T/R + calls · latency + bytes / bandwidth
//
// where bytes is what a host sends in a unit, (R-1)/R of what there is: nothing is sent while something is computed. In mode cl that is in each of
// the two steps of an iteration
//
//   - with negatives of each word's own the dot products, 4 V (K + s) bytes twice (s: samples of a word), for each rank has some columns of all rows,
//   - with shared negatives the rows, 4 V N bytes, for each rank has some rows,
//   - and M's samples, 2 or 4 bytes each.
//
// With model cbow an iteration sends the rows of the words that occur, at most one for each place, the sums at places once, and
// if words are composed their gradients: see graph.RankTraffic. There hosts compute more than one does: each computes most of the means, and fewer
// columns of n-grams take longer each. T is 1.2 to 1.3 times as long on two ranks and 1.4 to 1.8 times on four (BenchmarkCBOWOnRanks in package graph).
//
// In sentence-ordered modes both tables move twice in a combination, 16 V N bytes, if every row has changed.
func Predict(c *settings.Config, n Network, m Measured) (Forecast, error) {
	mode := c.FindMode()
	f := Forecast{Hosts: n.Hosts, Gigabits: n.Gigabits, unit: mode.Unit}
	switch {
	case n.Hosts < 2:
		return f, terminal.Usagef("--hosts %d: must be 2 or more", n.Hosts)
	case !(n.Gigabits > 0):
		return f, terminal.Usagef("--network %v: must be the gigabits that a host sends in a second, above 0", n.Gigabits)
	}
	if err := CheckTraining(c); err != nil {
		return f, err
	}
	calls, computed, err := 0.0, m.Seconds/float64(n.Hosts), error(nil)
	switch mode.Family {
	case settings.LargeBatch:
		calls, err = f.ofCL(c, m)
	case settings.Stretches:
		calls, computed = f.ofCBOW(c, m), computed*(1+.3*math.Log2(float64(n.Hosts)))
	case settings.SentenceOrdered:
		if c.HasEncoder() {
			return f, terminal.Usagef("the model of several hosts does not cover --subword %s: leave out --hosts", c.Subword)
		}
		calls, err = f.ofSequential(c, m)
	default:
		err = terminal.Usagef("several hosts cannot train with --mode %s", c.Mode)
	}
	f.SecondsPerUnit = computed + calls*latency*math.Log2(float64(n.Hosts)) + f.BytesPerUnit*8/(n.Gigabits*1e9)
	f.SecondsTrain, f.Speedup = f.SecondsPerUnit*float64(m.Units), m.Seconds/f.SecondsPerUnit
	return f, err
}

// ofCL sets what an iteration sends, and a host's memory. It returns the calls of an iteration.
func (f *Forecast) ofCL(c *settings.Config, m Measured) (calls float64, err error) {
	model := c.GraphOptions(nil)
	samples := m.Samples
	if samples == 0 {
		samples = 1
	}
	last := f.Hosts - 1 // the first also has the whole tables when it saves
	account := trainer.Dry(func(a *trainer.Account) {
		err = split.Plan(a, m.Words, int(samples*float64(m.Words)), f.Hosts, last, model)
	})
	if err != nil {
		return 0, err
	}
	f.Memory = account.Sum() + m.Matrix/int64(f.Hosts) + m.Text
	f.BytesPerUnit = 2 * split.TrafficOf(m.Words, f.Hosts, samples, model)
	exchanges := 1
	if c.Device == settings.DeviceCPU {
		exchanges = split.Exchanges(m.Words, f.Hosts, model)
	}
	callsOf := 2.0 // an exchange: scores to where they are added up, and sums to all; or rows and losses
	if f.Hosts == 2 && model.SharedNegatives == 0 {
		callsOf = 1
	}
	return 2 * callsOf * float64(exchanges), split.Check(f.Hosts, model)
}

// ofCBOW is ofCL for large-batch CBOW. Each host has the text and the tables.
func (f *Forecast) ofCBOW(c *settings.Config, m Measured) (calls float64) {
	words, composed := min(float64(m.Words), m.Places), c.ComposesRows()
	f.BytesPerUnit = graph.RankTraffic(words, m.Places, f.Hosts, c.Dim, composed)
	exchanged := 8 * int64(m.Places) * int64(c.Dim)
	f.Memory = m.Text + m.Training - m.Moments + m.Moments/int64(f.Hosts) + exchanged
	return float64(graph.RankCalls(composed))
}

// ofSequential is ofCL for modes in the order of the text.
func (f *Forecast) ofSequential(c *settings.Config, m Measured) (calls float64, err error) {
	model := c.SequentialOptions()
	planned := trainer.Dry(func(a *trainer.Account) { err = joint.Plan(a, m.Words, int(m.Tokens), model) })
	if err != nil {
		return 0, err
	}
	f.Memory = planned.Sum() + m.Text/int64(f.Hosts)
	o := joint.Options(int(m.Tokens), f.Hosts, model)
	perUnit := float64(m.Tokens) * float64(c.Epochs) / float64(m.Units)
	combined := perUnit / float64(min(max(o.Words, int(perUnit)), int(m.Tokens)))
	bytes, calls := joint.Traffic(m.Words, f.Hosts, model)
	f.BytesPerUnit = combined * bytes
	if o.HotWords > 0 && o.Hot > 0 {
		hot := perUnit / float64(min(max(o.HotWords, int(perUnit)), int(m.Tokens)))
		bytes, hotCalls := joint.Traffic(o.MeanHotRows(m.Words), f.Hosts, model)
		f.BytesPerUnit += hot * bytes
		calls += hot / combined * hotCalls
	}
	return combined * calls, joint.Check(model)
}

// Slower reports whether several hosts take longer than one.
func (f Forecast) Slower() bool { return f.Speedup < 1 }

// Print writes the forecast for people.
func (f Forecast) Print(w io.Writer) error {
	advice := ""
	if f.Slower() {
		advice = "\n  Several hosts are slower than one. 'train' stops there, unless one host lacks the memory or --force is given."
	}
	_, err := fmt.Fprintf(w, `On %d hosts, with %s Gbit/s each (a model):
  time    about %s of training (%s per %s), %.2f times as fast as one
  memory  %s on each
  sends   %s per %s from each%s
`, f.Hosts, strconv.FormatFloat(f.Gigabits, 'g', -1, 64), terminal.Duration(f.SecondsTrain), terminal.Duration(f.SecondsPerUnit), f.unit, f.Speedup, terminal.Bytes(f.Memory),
		terminal.Bytes(int64(f.BytesPerUnit)), f.unit, advice)
	return err
}
