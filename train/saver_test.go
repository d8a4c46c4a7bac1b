package train

import (
	"bytes"
	"github.com/w2vcl/w2vcl/internal/machine"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestParseInterval(t *testing.T) {
	for _, test := range []struct {
		text string
		want interval
		bad  bool
	}{
		{"10m", interval{seconds: 600}, false}, {"90s", interval{seconds: 90}, false}, {"1h30m", interval{seconds: 5400}, false},
		{"1000", interval{units: 1000}, false}, {"0", interval{}, false}, {"0s", interval{}, false},
		{"", interval{}, true}, {"-1", interval{}, true}, {"-1s", interval{}, true}, {"often", interval{}, true}, {"1.5", interval{}, true}, {"10 m", interval{}, true},
	} {
		if got, err := parseInterval(test.text); got != test.want || (err != nil) != test.bad {
			t.Errorf("%q: %+v, %v; want %+v", test.text, got, err, test.want)
		}
	}
}

func TestSaverIsDue(t *testing.T) {
	tried := position{Units: 10, Seconds: 100}
	for _, test := range []struct {
		every interval
		at    position
		want  bool
	}{
		{interval{}, position{Units: 1e6, Seconds: 1e6}, false},
		{interval{units: 5}, position{Units: 14, Seconds: 1e6}, false},
		{interval{units: 5}, position{Units: 15}, true},
		{interval{seconds: 60}, position{Units: 1e6, Seconds: 159.9}, false},
		{interval{seconds: 60}, position{Units: 11, Seconds: 160}, true},
	} {
		s := &saver{every: test.every, tried: tried}
		if got := s.due(test.at); got != test.want {
			t.Errorf("%+v at %+v: %v", test.every, test.at, got)
		}
	}
}

// TestSaverRestsAfterASlowCheckpoint: the time that writing takes does not
// count, or training would do nothing else.
func TestSaverRestsAfterASlowCheckpoint(t *testing.T) {
	metrics, err := openMetrics(filepath.Join(t.TempDir(), MetricsFile), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer metrics.file.Close()
	s := &saver{path: filepath.Join(t.TempDir(), "c", stateFile), trainer: newFake(1, 1, 1), metrics: metrics, every: interval{seconds: 10}}
	if err := s.periodic(position{Units: 1, Seconds: 10}, func() float64 { return 35 }); err != nil {
		t.Fatal(err)
	}
	if s.due(position{Units: 2, Seconds: 36}) || !s.due(position{Units: 3, Seconds: 45}) {
		t.Errorf("last tried at %+v", s.tried)
	}
}

func TestRoomOnDisk(t *testing.T) {
	j, _ := fakeJob(t, filepath.Join(t.TempDir(), "run"), 1)
	if err := j.makeTrainer(); err != nil {
		t.Fatal(err)
	}
	const overhead = 64 << 10
	// Two files of 3 words of a letter, space, 2 values and a line feed; two tables of 3 x 2.
	if got, want := j.room(), (room{vectors: 2*3*11 + overhead, checkpoint: 2*3*2*4 + overhead}); got != want {
		t.Errorf("room %+v, want %+v", got, want)
	}
	folder := &runFolder{dir: t.TempDir()}
	free, ok := machine.FreeSpace(folder.dir)
	if !ok {
		t.Skip("free space is not known on this system")
	}
	if free < 1<<20 {
		t.Fatalf("%d bytes free", free)
	}
	if free, ok := machine.FreeSpace(filepath.Join(folder.dir, "none")); ok {
		t.Errorf("no folder: %d bytes free", free)
	}
	for _, test := range []struct {
		room              room
		refused, warned   bool
		checkpointRefused bool
	}{
		{room{1000, 1000}, false, false, false},
		{room{math.MaxInt64 / 4, 1000}, true, false, true},
		{room{1000, math.MaxInt64 / 4}, false, true, true},
		{room{free / 10, free / 10 * 6}, false, true, false}, // two checkpoints are too much, one and the vectors are not
	} {
		var shown bytes.Buffer
		err := test.room.check(folder, terminal.NewProgress(&shown))
		if (err != nil) != test.refused || strings.Contains(shown.String(), "Warning") != test.warned {
			t.Errorf("%+v of %d: %v, %q", test.room, free, err, &shown)
		}
		if err := test.room.forCheckpoint(folder); (err != nil) != test.checkpointRefused {
			t.Errorf("%+v: checkpoint %v", test.room, err)
		}
	}
}

// TestMetricsWaitForRoom: lines that cannot be written are written later.
func TestMetricsWaitForRoom(t *testing.T) {
	path := filepath.Join(t.TempDir(), MetricsFile)
	m, err := openMetrics(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	put := func(lines string) {
		if n, err := m.Write([]byte(lines)); n != len(lines) || err != nil {
			t.Errorf("write: %d, %v", n, err)
		}
	}
	put("one\n")
	good := m.file
	if m.file, err = os.Open(path); err != nil { // cannot be written to
		t.Fatal(err)
	}
	put("two\n")
	put("three\n")
	if err := m.flush(); err == nil || !strings.Contains(err.Error(), "cannot write metrics") {
		t.Errorf("flush: %v", err)
	}
	m.file.Close()
	m.file = good
	put("four\n")
	if m.size != 19 {
		t.Errorf("%d bytes of whole lines", m.size)
	}
	if err := m.finish(); err != nil {
		t.Fatal(err)
	}
	if got := string(mustRead(t, path)); got != "one\ntwo\nthree\nfour\n" {
		t.Errorf("the file holds %q", got)
	}
	// A file that is longer than a checkpoint knows is cut, a shorter one kept.
	for _, test := range []struct {
		size int64
		want string
	}{{8, "one\ntwo\nnext\n"}, {1000, "one\ntwo\nnext\nnext\n"}} {
		if m, err = openMetrics(path, test.size); err != nil {
			t.Fatal(err)
		}
		put("next\n")
		if err := m.finish(); err != nil {
			t.Fatal(err)
		}
		if got := string(mustRead(t, path)); got != test.want {
			t.Errorf("from byte %d: %q, want %q", test.size, got, test.want)
		}
	}
}
