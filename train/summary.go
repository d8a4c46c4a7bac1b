package train

import (
	"encoding/json"
	"io"
	"runtime"
)

// A Summary is what is left to say after a run. It is the object that
// `w2vcl train --json` prints and summary.json holds.
type Summary struct {
	Mode           string  `json:"mode"`
	Preset         string  `json:"preset"`
	Device         string  `json:"device"`
	DeviceName     string  `json:"device_name,omitempty"` // of a GPU
	Precision      string  `json:"precision,omitempty"`   // of what a GPU stores
	Threads        int     `json:"threads"`
	Dim            int     `json:"dim"`
	Vocab          int     `json:"vocab"`
	Tokens         int64   `json:"tokens"`      // words in the text
	TrainWords     int64   `json:"train_words"` // of the vocabulary, one epoch
	Iterations     int     `json:"iterations"`  // finished
	Epochs         float64 `json:"epochs"`      // finished
	SecondsTotal   float64 `json:"seconds_total"`
	SecondsRead    float64 `json:"seconds_read"`
	SecondsMatrix  float64 `json:"seconds_matrix"` // building or opening M
	SecondsTrain   float64 `json:"seconds_train"`
	WordsPerSecond float64 `json:"words_per_second"` // train words x epochs / seconds of training
	PairsPerSecond float64 `json:"pairs_per_second"`
	Loss           float64 `json:"loss"`         // per pair, over the last half percent of the run
	Memory         Memory  `json:"memory_bytes"` // of training, by part
	PeakRSS        int64   `json:"peak_rss_bytes"`
	PeakDevice     int64   `json:"peak_device_bytes,omitempty"` // of a GPU's memory
	Seed           uint64  `json:"seed"`
	Interrupted    bool    `json:"interrupted"`
	Go             string  `json:"go"`
	Out            string  `json:"out"`
}

// summarize fills in what the job and the outcome of its training tell.
func (j *job) summarize(o outcome) Summary {
	c := &j.config
	epochs := j.epochs * float64(o.Units) / float64(j.trainer.Units())
	s := Summary{
		Mode: c.Mode, Preset: c.Preset, Device: c.Device, Threads: c.threads(), Dim: c.Dim,
		Vocab: j.vocabulary.Len(), Tokens: j.stats.Tokens, TrainWords: j.stats.TokensUsed,
		Iterations: o.Units, Epochs: epochs,
		Memory:      j.memory(),
		SecondsRead: j.secondsRead, SecondsMatrix: j.secondsMatrix, SecondsTrain: o.Seconds,
		Loss: o.Last.Loss, Seed: c.Seed, Interrupted: o.Interrupted, Go: runtime.Version(), Out: c.Out,
	}
	s.DeviceName, s.PeakDevice = j.deviceUse()
	s.Precision = c.devicePrecision()
	if o.Seconds > 0 {
		s.WordsPerSecond = float64(j.stats.TokensUsed) * epochs / o.Seconds
		s.PairsPerSecond = o.Pairs / o.Seconds
	}
	return s
}

func (s Summary) writeJSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(s)
}
