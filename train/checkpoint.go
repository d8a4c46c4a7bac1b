package train

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/w2vcl/w2vcl/internal/atomicfile"
	"github.com/w2vcl/w2vcl/internal/safetensors"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/trainer"
)

// stateFile, in the checkpoint folder, is a safetensors file: the tensors of
// Trainer.State by their names, and a checkpoint in its metadata.
const (
	stateFile         = "state.safetensors"
	checkpointKey     = "w2vcl" // of the metadata; the value is JSON
	checkpointVersion = 1
)

// A checkpoint is what a run needs besides its tensors to go on, and what it
// takes to tell that it goes on with the same text and settings. All randomness
// follows from seed and unit, so there is no generator to save.
type checkpoint struct {
	Version    int               `json:"version"`
	Units      int               `json:"units"`         // of the whole run
	Corpus     string            `json:"corpus"`        // fingerprint, in hexadecimal digits
	Vocabulary string            `json:"vocabulary"`    // XXH64 of words and counts
	Settings   map[string]string `json:"settings"`      // all that are recorded
	Position   position          `json:"position"`      // how far the run has come
	Metrics    int64             `json:"metrics_bytes"` // of metrics.jsonl that belong to it
	Data       string            `json:"xxh64"`         // of the tensors' bytes
}

// errNotFinite says that a table holds NaN or infinity.
var errNotFinite = errors.New("values that are not finite")

// write writes the checkpoint and a trainer's state to path. What was at path
// before stays whole until the new one is, and stays if there is an error. A
// state with NaN or infinity is never written: the error is errNotFinite.
func (c checkpoint) write(path string, state []Tensor) error {
	hash := xxhash.New()
	var tensors []safetensors.Tensor
	for _, t := range state {
		if !finite(t.Data) {
			return fmt.Errorf("tensor %s has %w", t.Name, errNotFinite)
		}
		if err := safetensors.WriteFloats(hash, t.Data); err != nil {
			return err
		}
		tensors = append(tensors, safetensors.Tensor{
			Name: t.Name, Type: safetensors.Float32, Shape: []int64{int64(len(t.Data))}, Size: 4 * int64(len(t.Data)),
		})
	}
	c.Version, c.Data = checkpointVersion, hex(hash.Sum64())
	text, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return atomicfile.Write(path, func(w io.Writer) error {
		if err := safetensors.WriteHeader(w, map[string]string{checkpointKey: string(text)}, tensors); err != nil {
			return err
		}
		for _, t := range state {
			if err := safetensors.WriteFloats(w, t.Data); err != nil {
				return err
			}
		}
		return nil
	})
}

// finite reports whether no value is NaN or infinite.
func finite(values []float32) bool {
	const exponent = 0x7f800000
	for _, v := range values {
		if math.Float32bits(v)&exponent == exponent {
			return false
		}
	}
	return true
}

func hex(hash uint64) string { return fmt.Sprintf("%016x", hash) }

// A savedState is a checkpoint file that has been opened.
type savedState struct {
	checkpoint
	file    *os.File // at its first tensor
	tensors []safetensors.Tensor
}

// openCheckpoint reads what a checkpoint file says about itself. Without a file
// there is no error and nothing is returned.
func openCheckpoint(path string) (*savedState, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the checkpoint: %w", err)
	}
	s := &savedState{file: f}
	if err := s.readHeader(); err != nil {
		f.Close()
		return nil, s.damaged(err)
	}
	return s, nil
}

func (s *savedState) readHeader() error {
	metadata, tensors, err := safetensors.ReadHeader(s.file)
	if err != nil {
		return err
	}
	s.tensors = tensors
	if err := json.Unmarshal([]byte(metadata[checkpointKey]), &s.checkpoint); err != nil {
		return fmt.Errorf("metadata %s: %w", checkpointKey, err)
	}
	if s.Version != checkpointVersion {
		return fmt.Errorf("version %d is not read by this w2vcl, which writes version %d", s.Version, checkpointVersion)
	}
	if p := s.Position.Units; p < 0 || p > s.Units {
		return fmt.Errorf("it was written after %d of %d units", p, s.Units)
	}
	end, err := s.file.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	for _, t := range tensors {
		end += t.Size
	}
	info, err := s.file.Stat()
	if err == nil && info.Size() != end {
		err = fmt.Errorf("it has %s bytes instead of %s", terminal.Number(info.Size()), terminal.Number(end))
	}
	return err
}

// damaged says what can be done without the file.
func (s *savedState) damaged(err error) error {
	path := s.file.Name()
	return fmt.Errorf("the checkpoint %s cannot be used: %w; without it, when the file is removed, 'w2vcl resume' starts the run over", path, err)
}

// load reads the tensors into a trainer and closes the file.
func (s *savedState) load(t Trainer) error {
	defer s.close()
	hash := xxhash.New()
	data := io.TeeReader(s.file, hash)
	state := t.State()
	if s.Units != t.Units() {
		return s.damaged(fmt.Errorf("it is of %d units, but this training has %d", s.Units, t.Units()))
	}
	if len(state) != len(s.tensors) {
		return s.damaged(fmt.Errorf("it has %d tensors, but this training %d", len(s.tensors), len(state)))
	}
	for i, t := range state {
		saved := s.tensors[i]
		if saved.Name != t.Name || saved.Type != safetensors.Float32 || saved.Size != 4*int64(len(t.Data)) {
			return s.damaged(fmt.Errorf("its tensor %d is %s of %d bytes, but this training has %s of %d",
				i+1, saved.Name, saved.Size, t.Name, 4*len(t.Data)))
		}
		if err := safetensors.ReadFloats(data, t.Data); err != nil {
			return s.damaged(fmt.Errorf("tensor %s: %w", t.Name, err))
		}
	}
	if got := hex(hash.Sum64()); got != s.Data {
		return s.damaged(fmt.Errorf("its data are not what was written (checksum %s instead of %s)", got, s.Data))
	}
	trainer.Push(t)
	return nil
}

func (s *savedState) close() { s.file.Close() }

// checkSettings returns an error that names the settings that differ from
// those the checkpoint was trained with, but for those that may.
func (s *savedState) checkSettings(c *Config) error {
	now := c.recorded()
	for _, name := range slices.Sorted(maps.Keys(s.Settings)) {
		setting, known := c.setting(name)
		if known && setting.Resume {
			continue
		}
		if got := now[name]; got != s.Settings[name] {
			return fmt.Errorf("the run was trained with %s %s until now, but its %s says %s: a run goes on with the settings it began with; change that back",
				name, s.Settings[name], ConfigFile, orElse(got, "nothing of it"))
		}
	}
	return nil
}

// recorded returns the settings that a run folder records, as texts.
func (c *Config) recorded() map[string]string {
	all := map[string]string{}
	for _, s := range c.Settings() {
		if s.Record && c.uses(s) && !c.leftOut(s.Name) {
			all[s.Name] = s.String()
		}
	}
	return all
}

// checkText returns an error if the text is not the one that was trained on.
func (s *savedState) checkText(j *job) error {
	advice := fmt.Sprintf("a run goes on with the text it began with: name it with --corpus if it moved, or start anew with 'w2vcl train'; the text now is %s", j.config.Corpus)
	vocabulary, err := j.vocabularyHash()
	switch {
	case err != nil:
		return err
	case s.Vocabulary != vocabulary:
		return fmt.Errorf("the words of the text, or how often they occur, changed since the run was interrupted; %s", advice)
	case s.Corpus != hex(j.fingerprint()):
		return fmt.Errorf("the text changed since the run was interrupted, though its words and their counts are the same; %s", advice)
	}
	return nil
}

// vocabularyHash is the XXH64 of vocab.tsv.
func (j *job) vocabularyHash() (string, error) {
	hash := xxhash.New()
	err := j.vocabulary.WriteTSV(hash)
	return hex(hash.Sum64()), err
}
