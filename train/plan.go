package train

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/train/device"
	"github.com/w2vcl/w2vcl/train/progress"
	"github.com/w2vcl/w2vcl/train/runfolder"
	"github.com/w2vcl/w2vcl/train/settings"
	"github.com/w2vcl/w2vcl/train/trainer"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// A Plan tells iterations, memory and time of a run before it starts.
type Plan struct {
	Mode       string  `json:"mode"`
	Device     string  `json:"device"`
	DeviceName string  `json:"device_name,omitempty"` // of a GPU
	Precision  string  `json:"precision,omitempty"`   // of the tables on a GPU
	Dim        int     `json:"dim"`
	Negative   int     `json:"negative"`
	Vocab      int     `json:"vocab"`
	Tokens     int64   `json:"tokens"`      // words in the text
	TrainWords int64   `json:"train_words"` // of the vocabulary, one epoch
	Epochs     float64 `json:"epochs"`
	Iterations int     `json:"iterations"` // units: iterations in mode cl
	Unit       string  `json:"unit"`       // what an iteration is called in this mode
	Threads    int     `json:"threads"`

	Settings map[string]string `json:"settings"` // all that a run records, by name

	Memory runfolder.Memory `json:"memory_bytes"`
	Disk   Disk             `json:"disk_bytes"`

	Samples *wordcontext.Spread `json:"samples,omitempty"` // of a word in an iteration; none: each has one

	// Uses is how often each context of the text will be trained on, on average: the epochs, but for model sg of mode cl, which
	// draws contexts from M.
	Uses float64 `json:"context_uses"`

	PairsPerIteration   float64 `json:"pairs_per_iteration"` // the mean of those that were measured
	SecondsPerIteration float64 `json:"seconds_per_iteration"`
	SecondsRead         float64 `json:"seconds_read"`
	SecondsMatrix       float64 `json:"seconds_matrix"`
	SecondsPrepare      float64 `json:"seconds_prepare"` // measured: both
	SecondsTrain        float64 `json:"seconds_train"`   // expected

	// SecondsFit is about how long n-grams for unseen words are fitted after training.
	SecondsFit float64 `json:"seconds_fit,omitempty"`

	// MatrixScans is how often the text is scanned for an M that does not fit the memory. Its
	// seconds are expected, not measured.
	MatrixScans int `json:"matrix_scans,omitempty"`
}

// Disk is what a run takes of the disk, in bytes.
type Disk struct {
	Text       int64 `json:"text"` // the encoded text; 0: it is in memory
	Matrix     int64 `json:"matrix"`
	Vectors    int64 `json:"vectors"` // and the small files
	Checkpoint int64 `json:"checkpoint"`
}

// disk returns what the run takes of the disk.
func (j *job) disk() Disk {
	space := j.diskSpace()
	d := Disk{Text: j.text.fileBytes, Vectors: space.Vectors, Checkpoint: space.Checkpoint}
	if d.Matrix = j.matrixDisk.Bytes; d.Matrix == 0 && j.config.Matrix != "" {
		d.Matrix = j.matrix
	}
	return d
}

// MakePlan reads the text, builds or opens M, and measures a few units. It leaves
// no vectors and no file behind.
func MakePlan(ctx context.Context, c settings.Config, o Options, p *progress.Progress) (Plan, error) {
	j := &job{config: c, options: o, dry: true}
	defer j.close()
	if err := j.prepare(ctx, p); err != nil {
		return Plan{}, err
	}
	defer p.Busy("measuring the speed of training")()
	measure := calibrate
	if o.Steady && c.Device == settings.DeviceCPU {
		measure = steady{c.ThreadCount(), j.limit()}.speed
	}
	perUnit, pairs, err := measure(ctx, j.trainer, c.Rate(0, j.trainer.Units()))
	if err != nil {
		return Plan{}, fmt.Errorf("cannot measure the speed of training: %w", err)
	}
	return j.plan(perUnit, pairs), nil
}

// plan makes the plan of a prepared job, given the seconds and the pairs of a unit.
func (j *job) plan(perUnit, pairs float64) Plan {
	c, all := &j.config, j.trainer.Units()
	words := float64(j.text.stats.TokensUsed) * j.epochs / float64(all)
	units := j.limit().Units(all, perUnit, pairs, words)
	seconds := perUnit * float64(units)
	if l := j.limit(); l.Kind == trainer.BudgetSeconds && units < all {
		seconds = max(l.Amount, perUnit) // a unit is trained to its end
	}
	deviceName, _ := trainer.Device(j.trainer)
	return Plan{
		Mode: c.Mode, Device: c.Device, DeviceName: deviceName, Precision: c.DevicePrecision(),
		Dim: c.Dim, Negative: c.Negative, Threads: c.ThreadCount(),
		Vocab: j.text.vocabulary.Len(), Tokens: j.text.stats.Tokens, TrainWords: j.text.stats.TokensUsed,
		Epochs: j.epochs * float64(units) / float64(all), Iterations: units, Unit: j.mode.Unit,
		Settings:            c.Recorded(),
		Memory:              j.memoryWithPeak(),
		Disk:                j.disk(),
		Samples:             j.samples,
		Uses:                j.uses(units, all),
		PairsPerIteration:   pairs,
		SecondsPerIteration: perUnit,
		SecondsRead:         j.text.seconds,
		SecondsMatrix:       j.secondsMatrix,
		SecondsPrepare:      j.text.seconds + j.secondsMatrix,
		SecondsFit:          j.unseenSeconds(),
		SecondsTrain:        seconds,
		MatrixScans:         j.matrixDisk.Scans,
	}
}

// uses returns how often a context of the text is trained on in so many units of all.
func (j *job) uses(units, all int) float64 {
	c := &j.config
	if j.mode.Family != settings.LargeBatch {
		return j.epochs * float64(units) / float64(all)
	}
	samples := float64(j.text.vocabulary.Len()) // each word has one
	if j.samples != nil {
		samples *= j.samples.Mean
	}
	pass, contexts := c.MatrixOptions(), 0.0
	pass.Passes = 1
	for _, n := range wordcontext.EstimateContexts(j.text.vocabulary, pass) {
		contexts += n
	}
	return float64(units) * samples / max(contexts, 1)
}

// announcer returns what shows the plan once training has measured itself; nil if
// nobody reads it.
func (j *job) announcer(p *progress.Progress) func(perUnit, pairs float64) {
	if !p.Shows() || j.options.NoPlan {
		return nil
	}
	return func(perUnit, pairs float64) { _ = j.plan(perUnit, pairs).Print(p.Writer()) } // as all progress
}

const (
	calibrationTime  = 300 * time.Millisecond
	calibrationUnits = 20
)

// calibrate returns the time of one unit and its pairs on average, measured on the
// first units of t after one to warm up.
func calibrate(ctx context.Context, t trainer.Trainer, rate float64) (seconds, pairs float64, err error) {
	units := t.Units()
	start := time.Now()
	reports, err := trainer.Advance(ctx, t, 0, []float64{rate})
	if err != nil {
		return 0, 0, err
	}
	seconds, pairs = time.Since(start).Seconds(), reports[0].Pairs
	// A short run is not held up by measuring: a twentieth of its units.
	most := min(units, 3+min(units/20, calibrationUnits))
	start = time.Now()
	sum := 0.0 // of pairs
	for done := 1; done < most; {
		series := slices.Repeat([]float64{rate}, min(units-done, trainer.SeriesLength(t)))
		if reports, err = trainer.Advance(ctx, t, done, series); err != nil {
			return 0, 0, err
		}
		for _, r := range reports {
			sum += r.Pairs
		}
		done += len(reports)
		elapsed := time.Since(start)
		seconds, pairs = elapsed.Seconds()/float64(done-1), sum/float64(done-1)
		if elapsed > calibrationTime {
			break
		}
	}
	return seconds, pairs, nil
}

// Print writes the plan for people.
func (p Plan) Print(w io.Writer) error {
	memory := terminal.Sizes{
		{"text", p.Memory.Corpus}, {"matrix M", p.Memory.Matrix}, {"tables", p.Memory.Tables},
		{"moments", p.Memory.Moments}, {"work", p.Memory.Work},
	}
	disk := terminal.Sizes{
		{"encoded text", p.Disk.Text}, {"matrix M", p.Disk.Matrix},
		{"vectors", p.Disk.Vectors}, {"a checkpoint", p.Disk.Checkpoint},
	}
	prepare := "reading"
	if p.SecondsMatrix > 0 {
		prepare = fmt.Sprintf("reading %s, M %s", terminal.Duration(p.SecondsRead), terminal.Duration(p.SecondsMatrix))
		if p.MatrixScans > 0 {
			prepare += fmt.Sprintf(" on the disk with %s of the text", terminal.Quantity(terminal.Number(p.MatrixScans), "scan"))
		}
	}
	_, err := fmt.Fprintf(w, `Plan: mode %s%s on %s, %s
  work    %s (%s), %s pairs each; %s, dim %d, %s%s%s
  memory  %s: %s; at most %s at any time%s
  disk    %s: %s
  time    about %s of training (%s per %s), after %s of preparation (%s)%s%s
`,
		p.Mode, p.modelClause(), p.Device, terminal.Quantity(terminal.Number(p.Threads), "thread"),
		terminal.Quantity(terminal.Number(p.Iterations), p.Unit), terminal.Quantity(fmt.Sprintf("%.4g", p.Epochs), "epoch"),
		terminal.Number(int64(p.PairsPerIteration)),
		terminal.Quantity(terminal.Number(p.Vocab), "word"), p.Dim, terminal.Quantity(terminal.Number(p.Negative), "negative"),
		p.usesLine(), p.samplesLine(),
		terminal.Bytes(p.Memory.Total), memory, terminal.Bytes(p.Memory.Peak), p.deviceLine(),
		terminal.Bytes(disk.Sum()), disk,
		terminal.Duration(p.SecondsTrain), terminal.Duration(p.SecondsPerIteration), p.Unit,
		terminal.Duration(p.SecondsPrepare), prepare, p.fitClause(), p.insteadLine())
	return err
}

// modelClause names the model, if the mode has several, and the encoder, whose default depends on --graph.
func (p Plan) modelClause() string {
	clause := ""
	for _, name := range []string{"model", "subword"} {
		if value := p.Settings[name]; value != "" {
			clause += ", " + name + " " + value
		}
	}
	if clause != "" {
		clause += ","
	}
	return clause
}

// fitClause tells what comes after training, and may take longer.
func (p Plan) fitClause() string {
	if p.SecondsFit == 0 {
		return ""
	}
	return fmt.Sprintf("; then about %s to fit n-grams for unseen words", terminal.Duration(p.SecondsFit))
}

// insteadLine tells what else would do: in mode cl on stretches, half the iterations score .008 to .01 less on 17 million words of
// Wikipedia (benchmarks/front). A quarter of them scores .03 less, which is no longer the same.
func (p Plan) insteadLine() string {
	const recipe = 2048
	if p.Mode != settings.ModeCL || p.Settings["model"] == settings.ModelSkipGram || p.Iterations < recipe {
		return ""
	}
	return fmt.Sprintf("\n  instead --iterations %d takes %s and scores about .01 less on English Wikipedia", p.Iterations/2, terminal.Duration(p.SecondsTrain/2))
}

// samplesLine tells about the samples of words, unless all have as many.
func (p Plan) samplesLine() string {
	if p.Samples == nil {
		return ""
	}
	return fmt.Sprintf("\n  samples %.3g a word in an iteration on average, "+
		"%.3g for rare words, %.3g for frequent ones", p.Samples.Mean, p.Samples.Least, p.Samples.Most)
}

// usesLine tells how often contexts are used, unless the epochs say so.
func (p Plan) usesLine() string {
	if p.Uses == p.Epochs {
		return ""
	}
	return fmt.Sprintf("\n  uses    each context of the text %.3g times", p.Uses)
}

// deviceLine tells about the memory of the GPU, if there is one.
func (p Plan) deviceLine() string {
	if p.Memory.Device == 0 {
		return ""
	}
	matrix := ""
	if p.Memory.DeviceMatrix > 0 {
		matrix = ", M " + terminal.Bytes(p.Memory.DeviceMatrix) + " of it"
	}
	note := ""
	if p.Samples != nil || p.Mode == settings.ModeCL && p.Precision == settings.PrecisionHalf {
		note = device.BeyondTwo(p.Memory.Devices)
	}
	return fmt.Sprintf("\n  device  %s: %s of %s free%s%s; CUDA and other programs have %s; precision %s%s", p.DeviceName,
		terminal.Bytes(p.Memory.Device), terminal.Bytes(p.Memory.DeviceFree), device.OnEach(p.Memory.Devices), matrix, terminal.Bytes(p.Memory.DeviceOccupied), p.Precision, note)
}
