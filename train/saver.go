package train

import (
	"errors"
	"fmt"
	"math"

	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/train/progress"
	"github.com/w2vcl/w2vcl/train/runfolder"
	"github.com/w2vcl/w2vcl/train/settings"
	"github.com/w2vcl/w2vcl/train/trainer"
)

// A saver writes the checkpoints of a run. The nil saver writes none.
type saver struct {
	path     string
	run      runfolder.Checkpoint // the part that all checkpoints of the run share
	trainer  trainer.Trainer
	metrics  *runfolder.MetricsLog
	every    settings.Interval
	composed bool         // checkpoints have composed words, too
	lost     func() error // returns an error if the run folder is gone; may be nil
	space    func() error // refuses a checkpoint that would take the disk space of the vectors; may be nil
	unitName string
	progress *progress.Progress

	saved   int                // units of the last checkpoint written
	tried   runfolder.Position // of the last attempt
	failing bool               // the last attempt failed, and that was said
}

// newSaver returns the saver of a run that trains from a position.
func (j *job) newSaver(folder *runfolder.Folder, metrics *runfolder.MetricsLog, from runfolder.Position, p *progress.Progress) (*saver, error) {
	fingerprint, vocabulary, err := j.text.hashes()
	if err != nil {
		return nil, err
	}
	space := j.diskSpace()
	return &saver{
		path: folder.Path(runfolder.CheckpointFile), trainer: j.trainer, metrics: metrics,
		run: runfolder.Checkpoint{
			Units: j.trainer.Units(), Corpus: fingerprint, Vocabulary: vocabulary,
			Settings: j.recorded().Recorded(), Ranks: sharing(j.options.Ranks, &j.config), UnitTokens: j.config.Unit,
		},
		every: j.config.Checkpoint, composed: j.savesComposed(), saved: from.Units, tried: from, unitName: j.mode.Unit, progress: p,
		space: func() error { return space.CheckCheckpoint(folder) },
		lost:  folder.Lost,
	}, nil
}

// due reports whether the position is one to save.
func (s *saver) due(p runfolder.Position) bool {
	if s == nil || !trainer.PausesAfter(s.trainer, p.Units) {
		return false
	}
	seconds := s.every.Seconds
	if s.saved == 0 { // questions about the run can be answered from then on
		seconds = min(seconds, firstCheckpoint)
	}
	return s.every.Units > 0 && p.Units-s.tried.Units >= s.every.Units || seconds > 0 && p.Seconds-s.tried.Seconds >= seconds
}

// firstCheckpoint is after how many seconds of training there is a checkpoint at the latest, if there are any by time.
const firstCheckpoint = 60

// untilDue returns how many units may be trained until a number of units is due.
func (s *saver) untilDue(p runfolder.Position) int {
	if s == nil || s.every.Units == 0 {
		return math.MaxInt
	}
	return max(1, s.every.Units-(p.Units-s.tried.Units))
}

// save writes a checkpoint of a trainer at a position.
func (s *saver) save(p runfolder.Position) error {
	if s.lost != nil {
		if err := s.lost(); err != nil {
			return err
		}
	}
	// The metrics must not be behind after a power cut.
	if err := s.metrics.Flush(); err != nil {
		return err
	}
	if err := trainer.Pull(s.trainer, true); err != nil {
		return err
	}
	state, err := s.state()
	if err != nil {
		return err
	}
	c := s.run
	c.Position = p
	c.Metrics, c.MetricsSum = s.metrics.Size()
	if err := c.Write(s.path, state); err != nil {
		return err
	}
	s.saved = p.Units
	return nil
}

// state returns what a checkpoint holds: what training changes, and the words that are composed of it, for those who ask the run
// before its end.
func (s *saver) state() ([]trainer.Tensor, error) {
	state := s.trainer.State()
	if !s.composed {
		return state, nil
	}
	if err := trainer.Refresh(s.trainer); err != nil {
		return nil, fmt.Errorf("cannot compose the vectors: %w", err)
	}
	words, _ := s.trainer.Tables()
	return append([]trainer.Tensor{{Name: runfolder.ComposedWords, Data: words}}, state...), nil
}

// savesComposed reports whether words are composed row by row, which takes no memory. Networks compose all words at once.
func (j *job) savesComposed() bool { return j.config.ComposesRows() }

// periodic writes a checkpoint that is due. One that cannot be written is no
// reason to stop: it is reported, and tried again when the next is due. Only
// tables that are ruined are an error. seconds tells the time of training, which
// goes on while a checkpoint is written.
func (s *saver) periodic(p runfolder.Position, seconds func() float64) error {
	defer func() { s.tried = runfolder.Position{Units: p.Units, Seconds: seconds()} }()
	var err error
	if s.space != nil {
		err = s.space()
	}
	if err == nil {
		err = s.save(p)
	}
	switch {
	case errors.Is(err, runfolder.ErrNotFinite):
		return err
	case err != nil && !s.failing:
		s.progress.Warnf("no checkpoint after %s: %v; "+
			"training goes on, and the last checkpoint is whole", terminal.Quantity(terminal.Number(p.Units), s.unitName), err)
	case err == nil && s.failing:
		s.progress.Notef("Checkpoints are written again, after %s", terminal.Quantity(terminal.Number(p.Units), s.unitName))
	}
	s.failing = err != nil
	return nil
}

// interrupted writes the checkpoint of a run that stops here.
func (s *saver) interrupted(p runfolder.Position) error {
	if s == nil {
		return nil
	}
	err := s.save(p)
	if err == nil || errors.Is(err, runfolder.ErrNotFinite) {
		return err
	}
	s.progress.Warnf("what was trained since the last checkpoint cannot be resumed: %v", err)
	return nil
}

// rescue tries to save a sound trainer whose run ends with another error.
func (s *saver) rescue(p runfolder.Position) {
	if s != nil && s.saved < p.Units && trainer.PausesAfter(s.trainer, p.Units) {
		_ = s.save(p) // the error that led here is the one to tell
	}
}
