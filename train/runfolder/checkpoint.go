package runfolder

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/internal/atomicfile"
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/safetensors"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/train/settings"
	"github.com/w2vcl/w2vcl/train/trainer"
)

// CheckpointFile is a safetensors file: the tensors of Trainer.State by their
// names, and a Checkpoint in its metadata.
const (
	checkpointKey     = "w2vcl" // of the metadata; the value is JSON
	checkpointVersion = 1
)

// A Checkpoint is all that a run needs beside its tensors to go on, and to tell
// that it goes on with the same text and settings. All randomness follows from
// seed and unit, so there is no generator to save.
type Checkpoint struct {
	Version    int               `json:"version"`
	Units      int               `json:"units"`                 // of the whole run
	UnitTokens int               `json:"unit_tokens,omitempty"` // at least; 0: units are no part of the text
	Corpus     string            `json:"corpus"`                // fingerprint, in hexadecimal digits
	Vocabulary string            `json:"vocabulary"`            // XXH64 of words and counts
	Settings   map[string]string `json:"settings"`              // all that are recorded
	Ranks      int               `json:"ranks,omitempty"`       // that share the text; 0: one process does, or it does not matter
	Position   Position          `json:"position"`              // how far the run has come
	Metrics    int64             `json:"metrics_bytes"`         // of metrics.jsonl that belong to it
	MetricsSum string            `json:"metrics_xxh64"`         // XXH64 of them
}

// ErrNotFinite says that a table holds NaN or infinity.
var ErrNotFinite = errors.New("values that are not finite")

// Write writes the checkpoint and a trainer's state to path. What was at path
// before stays whole until the new one is, and stays if there is an error. A
// state with NaN or infinity is never written: the error is [ErrNotFinite].
func (c Checkpoint) Write(path string, state []trainer.Tensor) error {
	var tensors []safetensors.Tensor
	for _, t := range state {
		if !safetensors.Finite(t.Data) {
			return fmt.Errorf("tensor %s has %w", t.Name, ErrNotFinite)
		}
		tensors = append(tensors, safetensors.Tensor{
			Name: t.Name, Type: safetensors.Float32, Shape: []int64{int64(len(t.Data))}, Size: 4 * int64(len(t.Data)),
		})
	}
	c.Version = checkpointVersion
	text, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	// Not the folder above: if that is gone, a checkpoint alone is no run.
	if err := os.Mkdir(filepath.Dir(path), 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	metadata := map[string]string{checkpointKey: string(text)}
	return atomicfile.Write(path, func(w io.Writer) error {
		return safetensors.WriteSealed(w, metadata, tensors, func(w io.Writer) error {
			for _, t := range state {
				if err := safetensors.WriteFloats(w, t.Data); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// ComposedWords is the name of the first tensor of a checkpoint whose words are composed: the words' vectors, which training does
// not need.
const ComposedWords = "composed"

// A SavedState is a checkpoint file that has been opened.
type SavedState struct {
	Checkpoint
	file    *os.File
	content *safetensors.File // at its first tensor
}

// OpenCheckpoint reads the metadata of a checkpoint file. Without a file
// there is no error and nothing is returned.
func OpenCheckpoint(path string) (*SavedState, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the checkpoint: %w", err)
	}
	s := &SavedState{file: f}
	if err := s.readHeader(); err != nil {
		f.Close()
		return nil, s.damaged(err)
	}
	return s, nil
}

func (s *SavedState) readHeader() error {
	var err error
	if s.content, err = safetensors.Open(s.file); err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(s.content.Metadata[checkpointKey]), &s.Checkpoint); err != nil {
		return fmt.Errorf("metadata %s: %w", checkpointKey, err)
	}
	if s.Version != checkpointVersion {
		return fmt.Errorf("version %d is not read by this w2vcl, which reads version %d", s.Version, checkpointVersion)
	}
	if !s.content.Sealed {
		return fmt.Errorf("%w: it has no checksums", safetensors.ErrDamaged)
	}
	if err := s.Checkpoint.check(); err != nil {
		return err
	}
	end, err := s.file.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	for _, t := range s.content.Tensors {
		end += t.Size
	}
	info, err := s.file.Stat()
	if err == nil && info.Size() != end {
		err = fmt.Errorf("it has %s bytes instead of %s", terminal.Number(info.Size()), terminal.Number(end))
	}
	return err
}

// check returns an error if no run can have written the checkpoint.
func (c *Checkpoint) check() error {
	if err := settings.CheckRecorded(c.Settings); err != nil {
		return errors.New("its settings: " + err.Error()) // no usage error: nobody typed them
	}
	switch {
	case c.Units < 1 || c.UnitTokens < 0:
		return fmt.Errorf("it is from a run of %d units of %d tokens", c.Units, c.UnitTokens)
	case c.Metrics < 0:
		return fmt.Errorf("it knows %d bytes of metrics", c.Metrics)
	case !isHash(c.Corpus) || !isHash(c.Vocabulary) || !isHash(c.MetricsSum):
		return fmt.Errorf("%q, %q or %q is no hash of a text", c.Corpus, c.Vocabulary, c.MetricsSum)
	}
	return c.Position.check(c.Units)
}

// isHash reports whether a text is a hash as corpus.Hex writes it.
func isHash(text string) bool {
	hash, err := strconv.ParseUint(text, 16, 64)
	return err == nil && corpus.Hex(hash) == text
}

// damaged adds advice to an error of the file.
func (s *SavedState) damaged(err error) error {
	path := s.file.Name()
	return fmt.Errorf("the checkpoint %s cannot be used: %w; without it, when the file is removed, 'w2vcl resume' starts the run over", path, err)
}

// Load reads the tensors into a trainer and closes the file.
func (s *SavedState) Load(t trainer.Trainer) error {
	defer s.Close()
	state, saved := t.State(), s.content.Tensors
	if len(saved) == len(state)+1 && saved[0].Name == ComposedWords { // they follow from the rest
		if _, err := io.CopyN(io.Discard, s.content, saved[0].Size); err != nil {
			return s.damaged(err)
		}
		saved = saved[1:]
	}
	if s.Units != t.Units() && s.Ranks > 0 {
		return terminal.Usagef("the length of a run on several ranks cannot change: leave out --epochs and --budget")
	}
	if len(state) != len(saved) {
		return s.damaged(fmt.Errorf("it has %d tensors, but this training %d", len(saved), len(state)))
	}
	for i, t := range state {
		if saved[i].Name != t.Name || saved[i].Type != safetensors.Float32 || saved[i].Size != 4*int64(len(t.Data)) {
			return s.damaged(fmt.Errorf("its tensor %d is %s of %d bytes, but this training has %s of %d",
				i+1, saved[i].Name, saved[i].Size, t.Name, 4*len(t.Data)))
		}
		if err := s.read(s.content, t.Name, t.Data); err != nil {
			return err
		}
	}
	if err := s.content.Finish(); err != nil {
		return s.damaged(err)
	}
	trainer.Push(t)
	return nil
}

// read reads the next tensor, of this name, into values.
func (s *SavedState) read(r io.Reader, name string, values []float32) error {
	err := safetensors.ReadFloats(r, values)
	if err == nil && !safetensors.Finite(values) {
		err = ErrNotFinite
	}
	if err != nil {
		return s.damaged(fmt.Errorf("tensor %s: %w", name, err))
	}
	return nil
}

// Tensors reads tensors by their names, in the order of the file. It reads the whole
// file, for its checksum.
func (s *SavedState) Tensors(ctx context.Context, names ...string) ([][]float32, error) {
	var found [][]float32
	content := memory.NewReader(ctx, s.content)
	for _, t := range s.content.Tensors {
		if len(found) == len(names) || t.Name != names[len(found)] || t.Type != safetensors.Float32 {
			if _, err := io.CopyN(io.Discard, content, t.Size); err != nil {
				return nil, s.damaged(err)
			}
			continue
		}
		values, err := memory.Grow[float32](nil, int(t.Size/4))
		if err != nil {
			return nil, err
		}
		values = values[:t.Size/4]
		if err := s.read(content, t.Name, values); err != nil {
			return nil, err
		}
		found = append(found, values)
	}
	if len(found) < len(names) {
		return nil, fmt.Errorf("the checkpoint %s has no tensor %s: with this --subword, the run has vectors when it stops", s.file.Name(), names[len(found)])
	}
	if err := s.content.Finish(); err != nil {
		return nil, s.damaged(err)
	}
	return found, nil
}

// Close closes the file, which was only read.
func (s *SavedState) Close() { s.file.Close() }

// CheckSettings returns an error that names the settings that differ from those
// the checkpoint was trained with, but for those that may.
func (s *SavedState) CheckSettings(c *settings.Config) error {
	then, now := s.Settings, c.Recorded()
	for _, name := range slices.Sorted(maps.Keys(then)) {
		if settings.MayChange(name) {
			continue
		}
		if got := now[name]; got != then[name] {
			return fmt.Errorf("the run was trained with %s %s until now, but its %s says %s: a run goes on with the settings it began with; change that back",
				name, then[name], ConfigFile, cmp.Or(got, "nothing of it"))
		}
	}
	return nil
}

// CheckRanks returns an error if the run does not go on with as many ranks, of those that Checkpoint.Ranks counts.
func (s *SavedState) CheckRanks(now int) error {
	if s.Ranks == now {
		return nil
	}
	return fmt.Errorf("the run was trained on %d ranks until now, not on %d: each has its part of the text, so it goes on with as many as it began with", max(s.Ranks, 1), max(now, 1))
}

// CheckText returns an error if the text is not the one that was trained on:
// vocabulary and fingerprint are those of the text that the setting --corpus
// names.
func (s *SavedState) CheckText(corpus, vocabulary, fingerprint string) error {
	advice := fmt.Sprintf("a run goes on with the text it began with: name it with --corpus if it moved, or start anew with 'w2vcl train'; the text now is %s", corpus)
	switch {
	case s.Vocabulary != vocabulary:
		return fmt.Errorf("the words of the text, or how often they occur, changed since the run was interrupted; %s", advice)
	case s.Corpus != fingerprint:
		return fmt.Errorf("the text changed since the run was interrupted, though its words and their counts are the same; %s", advice)
	}
	return nil
}
