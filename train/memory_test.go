package train

import (
	"github.com/w2vcl/w2vcl/internal/machine"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
)

func TestParseSize(t *testing.T) {
	for _, test := range []struct {
		text string
		want int64 // -1: an error
	}{
		{"", 0}, {"1B", 1}, {"500MB", 500e6}, {"4GB", 4e9}, {"4g", 4e9}, {"1.5 GiB", 3 << 29}, {"2TiB", 2 << 40}, {"64kb", 64e3},
		{"75%", 750}, {"0.1%", 1}, {"100%", 1000}, {"1e30GB", math.MaxInt64/2 + 1},
		{"4", -1}, {"GB", -1}, {"0GB", -1}, {"-1GB", -1}, {"infGB", -1}, {"nan%", -1}, {"4XB", -1}, {"%", -1}, {"4GBGB", -1},
	} {
		got, err := parseSize(test.text, 1000)
		if (err != nil) != (test.want < 0) || err == nil && got != test.want {
			t.Errorf("%q: %d, %v; want %d", test.text, got, err, test.want)
		}
	}
	if _, err := parseSize("50%", 0); err == nil || !strings.Contains(err.Error(), "cannot be told") {
		t.Errorf("a part of what is not known: %v", err)
	}
}

func TestMemoryGuardNamesWhatIsNeeded(t *testing.T) {
	g := memoryGuard{limit: 1e9, asked: true}
	if err := g.check("training", "less", need{"tables", 6e8}, need{"moments", 4e8}); err != nil {
		t.Errorf("exactly the limit: %v", err)
	}
	err := g.check("training", "lower --dim", need{"tables", 6e8}, need{"nothing", 0}, need{"moments", 5e8})
	want := "training needs about 1.10 GB of memory (tables 600 MB, moments 500 MB), but --max-memory allows 1 GB: lower --dim"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	g.asked = false
	if err := g.check("training", "", need{"tables", 2e9}); err == nil || !strings.Contains(err.Error(), "this machine has 1 GB available (--max-memory") {
		t.Errorf("got %v", err)
	}
	if err := (memoryGuard{}).check("training", "", need{"tables", 1 << 60}); err != nil {
		t.Errorf("unknown limit: %v", err)
	}
}

// TestMaxMemory: each guard refuses before the work it is for, and nothing is
// left behind.
func TestMaxMemory(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	resident := machine.Resident()
	for _, test := range []struct {
		name   string
		change func(c *Config)
		want   []string
	}{
		{"text", func(c *Config) { c.MaxMemory = "1MB" }, []string{"reading the text needs about", "--max-memory allows 1 MB", "use less text"}},
		{"matrix", func(c *Config) {
			c.MaxMemory, c.Contexts, c.Window, c.Passes = terminal.Bytes(resident+200e6), 1<<25, 900, 1000
		}, []string{"building M needs about", "M and what building it takes", "lower --contexts (now 33554432) or --passes (now 1000)"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := smallConfig(t, ModeCL)
			test.change(&c)
			_, err := Run(t.Context(), c, nil)
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not say %q", err, want)
				}
			}
			if got := entries(t, filepath.Dir(c.Out)); got != nil {
				t.Errorf("left %v", got)
			}
			if after := debug.SetMemoryLimit(-1); after != before {
				t.Errorf("the limit of the process is %d, was %d", after, before)
			}
		})
	}
	j, _ := fakeJob(t, "", 1) // three words
	j.config.Dim, j.guard = 1<<16, memoryGuard{limit: 22e6, asked: true}
	j.momentBytes = j.config.momentBytes(3)
	err := j.makeTrainer()
	want := "training needs about 22.3 MB of memory (text 75 B, tables 1.57 MB, moments 3.15 MB, work 787 kB, program 16.8 MB), but --max-memory allows 22 MB: lower --dim (now 65536), raise --min-count (now 5), or take --optimizer adam-row or sgd"
	if err == nil || err.Error() != want || j.trainer != nil {
		t.Errorf("tables: got %v, want %s", err, want)
	}
	c := smallConfig(t, ModeCL)
	c.MaxMemory = "90%"
	if _, err := Run(t.Context(), c, nil); err != nil {
		t.Errorf("enough memory: %v", err)
	}
}

func TestTextBytes(t *testing.T) {
	dir := t.TempDir()
	for name, size := range map[string]int{"a": 10, "b/c": 100, "b/.hidden": 1000, ".d/e": 10000} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]int64{dir: 110, filepath.Join(dir, "a"): 10, filepath.Join(dir, "b", ".hidden"): 1000, "-": 0, filepath.Join(dir, "none"): 0} {
		if got := textBytes(path); got != want {
			t.Errorf("%s: %d bytes, want %d", path, got, want)
		}
	}
}
