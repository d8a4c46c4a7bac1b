package settings

import (
	"maps"
	"testing"
)

// FuzzConfig reads any configuration file. Settings that are accepted are written and
// read again as the same.
func FuzzConfig(f *testing.F) {
	for _, mode := range Modes() {
		c := Defaults(mode.Name, "", "", "")
		text, err := c.TOML()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte("vectors = \"sum\"\ncontexts = 1\nmode = \"cl\"\n"))
	f.Add([]byte("dim = 1e400\nseed = -1\nlr = nan\nmax-memory = \"99999999999999999999GB\"\ncheckpoint = \"1e300h\"\n"))
	f.Add([]byte("[dim]\na = [1, {b = 2}]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		texts, err := decodeTOML(data, "config.toml")
		if err != nil {
			return
		}
		c, _, _, err := layer("", texts)
		if err != nil || c.Validate() != nil {
			return
		}
		written, err := c.TOML()
		if err != nil {
			t.Fatal(err)
		}
		again, err := decodeTOML(written, "config.toml")
		if err != nil {
			t.Fatalf("what was written is not read: %v\n%s", err, written)
		}
		copied, _, _, err := layer("", again)
		if err != nil {
			t.Fatalf("%v\n%s", err, written)
		}
		if now, then := copied.Recorded(), c.Recorded(); !maps.Equal(now, then) {
			t.Errorf("%v became %v", then, now)
		}
	})
}
