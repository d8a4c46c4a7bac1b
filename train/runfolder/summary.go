package runfolder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
)

// A Summary tells the size, the speed and the end of a run. It is the object that
// `w2vcl train --json` prints and summary.json holds.
type Summary struct {
	Mode           string  `json:"mode"`
	Preset         string  `json:"preset"`
	Device         string  `json:"device"`
	DeviceName     string  `json:"device_name,omitempty"` // of a GPU
	Precision      string  `json:"precision,omitempty"`   // of the tables on a GPU
	Threads        int     `json:"threads"`
	Ranks          int     `json:"ranks,omitempty"` // more than one
	Dim            int     `json:"dim"`
	Vocab          int     `json:"vocab"`
	Lines          int64   `json:"lines"`         // of the text
	Tokens         int64   `json:"tokens"`        // words in the text
	TrainWords     int64   `json:"train_words"`   // of the vocabulary, one epoch
	Iterations     int     `json:"iterations"`    // finished
	Epochs         float64 `json:"epochs"`        // finished
	WordsTrained   float64 `json:"words_trained"` // train words x epochs, with those of --init
	SecondsTotal   float64 `json:"seconds_total"`
	SecondsRead    float64 `json:"seconds_read"`
	SecondsMatrix  float64 `json:"seconds_matrix"` // building or opening M
	SecondsTrain   float64 `json:"seconds_train"`
	SecondsSave    float64 `json:"seconds_save"`     // writing the vectors
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

// Memory is the memory that training takes, in bytes, by purpose.
type Memory struct {
	Corpus  int64 `json:"corpus"`  // vocabulary, and the tokens if the mode reads them in training
	Matrix  int64 `json:"matrix"`  // M
	Tables  int64 `json:"tables"`  // W and C
	Moments int64 `json:"moments"` // of the optimizer
	Work    int64 `json:"work"`    // graph, gradients, negatives, export
	Total   int64 `json:"total"`   // all of these

	Devices        int   `json:"devices,omitempty"`         // GPUs; the figures below are of each
	Device         int64 `json:"device,omitempty"`          // of the GPU's memory, apart from all else
	DeviceMatrix   int64 `json:"device_matrix,omitempty"`   // of Device, M
	DeviceFree     int64 `json:"device_free,omitempty"`     // of the GPU's memory before training
	DeviceOccupied int64 `json:"device_occupied,omitempty"` // of the GPU's memory, by CUDA itself and other programs

	// Peak is the most the process needs at any time. Reading the text and
	// building M may need more than training; both lie behind when a plan is
	// made, so this part is measured.
	Peak int64 `json:"peak"`
}

// decodeSummary reads what writeJSON wrote.
func decodeSummary(data []byte) (s Summary, err error) {
	if err := json.Unmarshal(data, &s); err != nil {
		return Summary{}, err
	}
	for _, x := range []float64{
		float64(s.Threads), float64(s.Dim), float64(s.Vocab), float64(s.Tokens), float64(s.TrainWords), float64(s.Iterations), s.Epochs,
		s.SecondsTotal, s.SecondsRead, s.SecondsMatrix, s.SecondsTrain, s.SecondsSave, s.WordsPerSecond, s.PairsPerSecond,
		float64(s.Memory.Total), float64(s.Memory.Peak), float64(s.PeakRSS), float64(s.PeakDevice),
	} {
		if x < 0 {
			return Summary{}, fmt.Errorf("it has a negative number, %g, where none can be", x)
		}
	}
	return s, nil
}

func (s Summary) writeJSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(s)
}

// readSummary reads the summary of a folder; ok is false if there is none.
func readSummary(dir string) (s Summary, ok bool, err error) {
	if err := check(context.Background(), dir, SummaryFile); err != nil {
		return s, false, err
	}
	path := filepath.Join(dir, SummaryFile)
	data, err := readSmall(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, false, nil
	}
	if err == nil {
		s, err = decodeSummary(data)
	}
	if err != nil {
		return s, false, fmt.Errorf("%s: %w", path, err)
	}
	return s, true, nil
}
