package experiment

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestParseExternal(t *testing.T) {
	for text, want := range map[string]External{
		"gensim=a.bin":                                {Name: "gensim", Vectors: "a.bin"},
		"c-1=dir/a,b.vec,seconds=58.5,epochs=5":       {Name: "c-1", Vectors: "dir/a,b.vec", Seconds: 58.5, Epochs: 5},
		"x=a=b.txt,memory=2MB,seconds=1":              {Name: "x", Vectors: "a=b.txt", Seconds: 1, Memory: 2 << 20},
		"glove =vectors.txt, seconds = 3 , epochs=15": {Name: "glove", Vectors: "vectors.txt", Seconds: 3, Epochs: 15},
	} {
		got, err := ParseExternal(text)
		if want.Memory > 0 {
			want.Memory = got.Memory
			if got.Memory != 2e6 && got.Memory != 2<<20 {
				t.Errorf("%q: memory %d", text, got.Memory)
			}
		}
		if err != nil || got != want {
			t.Errorf("%q: %+v, %v; want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "a.bin", "=a.bin", "x=", "a b=c", "ü=c", strings.Repeat("x", 61) + "=a", "x=a,seconds=0", "x=a,seconds=NaN", "x=a,epochs=-1", "x=a,memory=much"} {
		if e, err := ParseExternal(text); err == nil {
			t.Errorf("%q: %+v", text, e)
		}
	}
}

// TestExternalNames: several files of one name are one row, and a name of ours is refused.
func TestExternalNames(t *testing.T) {
	o := Options{Variants: Modes([]string{"cl"}), Seeds: 1, Points: 1, Out: "out"}
	o.External = []External{{Name: "c", Vectors: "1"}, {Name: "c", Vectors: "2"}, {Name: "d", Vectors: "3"}}
	var names []string
	for _, v := range o.Rows() {
		names = append(names, v.Name)
	}
	if got := strings.Join(names, " "); got != "cl c d" {
		t.Errorf("rows %s", got)
	}
	if err := o.check(); err != nil {
		t.Error(err)
	}
	o.External[2].Name = "cl"
	if err := o.check(); err == nil || !strings.Contains(err.Error(), "--external cl") {
		t.Errorf("a name twice: %v", err)
	}
}

// TestQuickTable: a file says what is different in its small version.
func TestQuickTable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.toml")
	read := func(text string) (*File, error) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return ReadFile(path)
	}
	f, err := read("modes = [\"cl\"]\ndim = 300\nwindow = 3\nseeds = 3\n[quick]\ndim = [8, 16]\npoints = 2\n")
	if err != nil || f.Settings["dim"] != "300" || f.Seeds != 3 {
		t.Fatalf("%+v, %v", f, err)
	}
	f.Shorten()
	if f.Settings["dim"] != "8,16" || f.Settings["window"] != "3" || f.Seeds != 1 || f.Points != 2 || f.Budget != "1s" {
		t.Errorf("small version %v", f.Settings)
	}
	if _, err := read("quick = 1\n"); err == nil || !strings.Contains(err.Error(), "write [quick]") {
		t.Errorf("no table: %v", err)
	}
}
