package settings

import (
	"slices"
	"testing"
)

// TestPublished: every value of a preset is one of a setting, and reaches a run of the preset's
// mode and of others that use the setting, unless the user gives another.
func TestPublished(t *testing.T) {
	for _, p := range presets {
		if p.mode == "" {
			continue
		}
		for _, mode := range ModeNames() {
			flags := map[string]string{"corpus": "text", "preset": p.Name, "mode": mode}
			c, err := Resolve("", flags)
			if err != nil {
				t.Errorf("%s, mode %s: %v", p.Name, mode, err)
				continue
			}
			for name, text := range p.published {
				s, ok := c.setting(name)
				if !ok {
					t.Fatalf("%s sets %s, which there is not", p.Name, name)
				}
				var want Config
				expected, _ := want.setting(name)
				if err := expected.set(name, text); err != nil {
					t.Fatalf("%s: %v", p.Name, err)
				}
				if name == "epochs" && mode == ModeCL && p.mode != ModeCL || !s.AppliesWith(mode, c.Model) {
					continue
				}
				if s.String() != expected.String() {
					t.Errorf("%s, mode %s: %s is %s, want %s", p.Name, mode, name, s, expected)
				}
			}
		}
	}
}

// TestPresets: a preset chooses its mode, what is given wins over it, and the paper of a mode is a preset.
func TestPresets(t *testing.T) {
	for _, x := range []struct {
		flags map[string]string
		value func(c *Config) any
		want  any
	}{
		{map[string]string{"preset": "blazingtext"}, func(c *Config) any { return c.Mode }, "word2vec"},
		{map[string]string{"preset": "blazingtext", "model": "cbow"}, func(c *Config) any { return c.LR }, 0.05},
		{map[string]string{"preset": "blazingtext", "lr": "0.1"}, func(c *Config) any { return c.LR }, 0.1},
		{map[string]string{"preset": "paper", "mode": "psgnscc"}, func(c *Config) any { return c.Epochs }, 20}, // of FULL-W2V
		{map[string]string{"preset": "word2vec", "epochs": "2"}, func(c *Config) any { return c.Epochs }, 2},
		{map[string]string{"preset": "w2vcl", "iterations": "64"}, func(c *Config) any { return c.TotalIterations() }, 64},
	} {
		x.flags["corpus"] = "text"
		c, err := Resolve("", x.flags)
		if err != nil {
			t.Errorf("%v: %v", x.flags, err)
		} else if got := x.value(&c); got != x.want {
			t.Errorf("%v: %v, want %v", x.flags, got, x.want)
		}
	}
	for _, m := range Modes() {
		if m.Family != WholeMatrix && !slices.ContainsFunc(presets, func(p preset) bool { return p.Name == m.Paper }) {
			t.Errorf("mode %s has the paper %q, which is no preset", m.Name, m.Paper)
		}
	}
}
