package train

import (
	"path/filepath"
	"testing"

	"github.com/w2vcl/w2vcl/train/runfolder"
	"github.com/w2vcl/w2vcl/train/settings"
)

func TestSaverIsDue(t *testing.T) {
	tried := runfolder.Position{Units: 10, Seconds: 100}
	for _, test := range []struct {
		every settings.Interval
		at    runfolder.Position
		saved int
		want  bool
	}{
		{settings.Interval{}, runfolder.Position{Units: 1e6, Seconds: 1e6}, 0, false},
		{settings.Interval{Units: 5}, runfolder.Position{Units: 14, Seconds: 1e6}, 0, false},
		{settings.Interval{Units: 5}, runfolder.Position{Units: 15}, 0, true},
		{settings.Interval{Seconds: 50}, runfolder.Position{Units: 1e6, Seconds: 149.9}, 0, false},
		{settings.Interval{Seconds: 50}, runfolder.Position{Units: 11, Seconds: 150}, 0, true},
		{settings.Interval{Seconds: 600}, runfolder.Position{Units: 11, Seconds: 160}, 0, true}, // the first one comes soon
		{settings.Interval{Seconds: 600}, runfolder.Position{Units: 11, Seconds: 699.9}, 10, false},
		{settings.Interval{Seconds: 600}, runfolder.Position{Units: 11, Seconds: 700}, 10, true},
	} {
		s := &saver{every: test.every, tried: tried, saved: test.saved}
		if got := s.due(test.at); got != test.want {
			t.Errorf("%+v at %+v: %v", test.every, test.at, got)
		}
	}
}

// TestSaverRestsAfterASlowCheckpoint: the time that writing takes does not
// count, or training would do nothing else.
func TestSaverRestsAfterASlowCheckpoint(t *testing.T) {
	metrics, err := runfolder.OpenMetrics(filepath.Join(t.TempDir(), runfolder.MetricsFile), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer metrics.Close()
	s := &saver{path: filepath.Join(t.TempDir(), "c", "state.safetensors"), trainer: newFake(1, 1, 1), metrics: metrics, every: settings.Interval{Seconds: 10}}
	if err := s.periodic(runfolder.Position{Units: 1, Seconds: 10}, func() float64 { return 35 }); err != nil {
		t.Fatal(err)
	}
	if s.due(runfolder.Position{Units: 2, Seconds: 36}) || !s.due(runfolder.Position{Units: 3, Seconds: 45}) {
		t.Errorf("last tried at %+v", s.tried)
	}
}

func TestDiskSpace(t *testing.T) {
	j, _ := fakeJob(t, filepath.Join(t.TempDir(), "run"), 1)
	if err := j.makeTrainer(); err != nil {
		t.Fatal(err)
	}
	const overhead = 64 << 10
	// Two files of 3 words of a letter, space, 2 values and a line feed; two tables of 3 x 2.
	if got, want := j.diskSpace(), (runfolder.DiskSpace{Vectors: 2*3*11 + overhead, Checkpoint: 2*3*2*4 + overhead}); got != want {
		t.Errorf("disk space %+v, want %+v", got, want)
	}
}
