package train

import (
	"errors"
	"math"
	"strconv"
	"time"

	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/trainer"
)

// An interval says how often something is done: after units or after seconds
// of training. The zero interval is never.
type interval struct {
	units   int
	seconds float64
}

// parseInterval reads a number of units (1000), a time (10m), or 0 for never.
func parseInterval(text string) (interval, error) {
	bad := errors.New("give a time (10m, 90s), a number of iterations, or 0 for only when interrupted")
	if units, err := strconv.Atoi(text); err == nil {
		if units < 0 {
			return interval{}, bad
		}
		return interval{units: units}, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return interval{}, bad
	}
	return interval{seconds: d.Seconds()}, nil
}

// A saver writes the checkpoints of a run. The nil saver writes none.
type saver struct {
	path     string
	run      checkpoint // what is the same in all checkpoints of the run
	trainer  Trainer
	metrics  *metricsFile
	every    interval
	room     func() error // refuses a checkpoint that would take the room of the vectors; may be nil
	unitName string
	progress *terminal.Progress

	saved   int      // units of the last checkpoint written
	tried   position // of the last attempt
	failing bool     // the last attempt failed, and that was said
}

// newSaver returns the saver of a run that trains from a position.
func (j *job) newSaver(folder *runFolder, metrics *metricsFile, from position, p *terminal.Progress) (*saver, error) {
	every, err := parseInterval(j.config.Checkpoint)
	if err != nil {
		return nil, terminal.Usagef("--checkpoint %s: %v", j.config.Checkpoint, err)
	}
	vocabulary, err := j.vocabularyHash()
	if err != nil {
		return nil, err
	}
	room := j.room()
	return &saver{
		path: folder.statePath(), trainer: j.trainer, metrics: metrics,
		run: checkpoint{
			Units: j.trainer.Units(), Corpus: hex(j.fingerprint()), Vocabulary: vocabulary, Settings: j.config.recorded(),
		},
		every: every, saved: from.Units, tried: from, unitName: j.mode.unit, progress: p,
		room: func() error { return room.forCheckpoint(folder) },
	}, nil
}

// due reports whether the position is one to save.
func (s *saver) due(p position) bool {
	if s == nil {
		return false
	}
	return s.every.units > 0 && p.Units-s.tried.Units >= s.every.units ||
		s.every.seconds > 0 && p.Seconds-s.tried.Seconds >= s.every.seconds
}

// untilDue returns how many units may be trained until a number of units is due.
func (s *saver) untilDue(p position) int {
	if s == nil || s.every.units == 0 {
		return math.MaxInt
	}
	return max(1, s.every.units-(p.Units-s.tried.Units))
}

// save writes a checkpoint of a trainer at a position.
func (s *saver) save(p position) error {
	// The metrics must not be behind after a power cut.
	if err := s.metrics.flush(); err != nil {
		return err
	}
	if err := trainer.Pull(s.trainer, true); err != nil {
		return err
	}
	c := s.run
	c.Position, c.Metrics = p, s.metrics.size
	if err := c.write(s.path, s.trainer.State()); err != nil {
		return err
	}
	s.saved = p.Units
	return nil
}

// periodic writes a checkpoint that is due. One that cannot be written is no
// reason to stop: it is reported, and tried again when the next is due. Only
// tables that are ruined are an error. seconds tells the time of training, which
// goes on while a checkpoint is written.
func (s *saver) periodic(p position, seconds func() float64) error {
	defer func() { s.tried = position{Units: p.Units, Seconds: seconds()} }()
	var err error
	if s.room != nil {
		err = s.room()
	}
	if err == nil {
		err = s.save(p)
	}
	switch {
	case errors.Is(err, errNotFinite):
		return err
	case err != nil && !s.failing:
		s.progress.Notef("Warning: no checkpoint after %s %ss: %v; training goes on, and what was saved before is whole", terminal.Number(p.Units), s.unitName, err)
	case err == nil && s.failing:
		s.progress.Notef("Checkpoints are written again, after %s %ss", terminal.Number(p.Units), s.unitName)
	}
	s.failing = err != nil
	return nil
}

// interrupted writes the checkpoint of a run that stops here.
func (s *saver) interrupted(p position) error {
	if s == nil {
		return nil
	}
	err := s.save(p)
	if err == nil || errors.Is(err, errNotFinite) {
		return err
	}
	s.progress.Notef("Warning: what was trained since the last checkpoint cannot be resumed: %v", err)
	return nil
}

// rescue tries to save a sound trainer whose run ends with another error.
func (s *saver) rescue(p position) {
	if s != nil && s.saved < p.Units {
		_ = s.save(p) // the error that led here is the one to tell
	}
}
