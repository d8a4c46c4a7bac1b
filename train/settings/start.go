package settings

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/w2vcl/w2vcl/embedding/fasttext"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/optim"
)

// encoderOf returns the settings that training takes over from --init: those of its encoder, by name, and "dim". It is empty if there is no
// such run, which reading the vectors will say.
func encoderOf(path string) map[string]string {
	encoder := map[string]string{}
	if path == "" {
		return encoder
	}
	if fasttext.IsModel(path) {
		dim, shape, err := fasttext.ShapeOf(path)
		if err == nil {
			encoder["dim"] = strconv.Itoa(dim)
		}
		if err == nil && shape.Longest > 0 {
			encoder["subword"], encoder["compose"] = SubwordNGram, composeSum
			encoder["min-ngram"], encoder["max-ngram"] = strconv.Itoa(shape.Shortest), strconv.Itoa(shape.Longest)
			encoder["buckets"] = strconv.Itoa(shape.Buckets)
		}
		return encoder
	}
	texts, _ := readTOML(filepath.Join(path, "config.toml"))
	encoder["dim"] = texts["dim"]
	if !slices.Contains(encoders(), texts["subword"]) && texts["unseen"] != unseenRegress {
		return encoder
	}
	for name, text := range texts { // all of them, as a run records them
		if s, _ := Find(name); s.Section == SectionSubword && name != "subword-lr" && text != SubwordNone {
			encoder[name] = text
		}
	}
	return encoder
}

// goOn lets the settings go on with the encoder and the dimensions that --init had, unless they name others.
func (c *Config) goOn(had, texts map[string]string, set given) {
	if dim := had["dim"]; dim != "" && set["dim"] == "" {
		texts["dim"], set["dim"] = dim, "--init "+texts["init"]+": dim"
	}
	delete(had, "dim")
	if texts["graph"] != "" {
		delete(had, "unseen") // names of nodes have no spelling
	}
	if kind := had["subword"]; kind != "" && (!c.trains(withSubwords) || cmp.Or(texts["subword"], kind) != kind) {
		return
	}
	for name, text := range had {
		if set[name] == "" {
			texts[name], set[name] = text, "--init "+texts["init"]+": "+name
		}
	}
}

// Freezes reports whether rows of --init of a kind, words or parts, stay as they are.
func (c *Config) Freezes(kind string) bool { return c.Freeze == kind || c.Freeze == freezeKnown }

// checkInit refuses --init-moments where there are no moments, and --freeze for what --init does not have or something else moves.
func (v *validator) checkInit() {
	c := v.config
	v.check(!c.Moments || c.Init != "", "init-moments", "needs --init, whose moments it takes")
	v.check(!c.Moments || c.Device == DeviceCPU, "init-moments", "moments start anew on GPUs; use --device %s", DeviceCPU)
	v.check(!c.Moments || optim.Method(c.Optimizer) != optim.SGD, "init-moments", "--optimizer %s has no moments", optim.SGD)
	if c.Freeze == freezeNone {
		return
	}
	v.check(c.Init != "", "freeze", "needs --init, whose rows it keeps")
	v.check(c.Device == DeviceCPU, "freeze", "GPUs train all rows; use --device %s", DeviceCPU)
	v.check(!c.HasNetwork(), "freeze", "--subword %s moves all words at once", c.Subword)
	v.check(c.Freeze != FreezeWords || !c.ComposesRows(), "freeze", "n-grams would move the words: choose %s", freezeKnown)
	v.check(c.Freeze != FreezeParts || c.ComposesRows(), "freeze", "there are no n-grams: choose %s", FreezeWords)
}

// checkStart refuses to start with another encoder than --init has: what it has is not dropped unasked, and what it lacks does not
// follow from vectors.
func (c *Config) checkStart(set given, had map[string]string) error {
	kind, own := cmp.Or(had["subword"], SubwordNone), cmp.Or(c.Subword, SubwordNone)
	without := ", or give --subword " + SubwordNone + " to go on without"
	switch {
	case c.Init == "" || c.FindMode().Name == "" || own == SubwordNone && set["subword"] != "":
		return nil
	case kind == SubwordNone && (c.ComposesRows() || c.HasEncoder() && c.Compose == composeSpelling):
		return terminal.Usagef("--subword %s: --init %s has vectors alone, which do not say what %s they are composed of; "+
			"leave --subword out, or take --compose %s with a network", own, c.Init, own, composeSum)
	case kind == SubwordNone:
		return nil
	case !c.trains(withSubwords):
		return terminal.Usagef("--init %s has --subword %s, which mode %s does not train; 'w2vcl convert %s FILE' makes a file of its vectors alone",
			c.Init, kind, c.Mode, c.Init)
	case own != kind:
		return terminal.Usagef("--subword %s: --init %s has %s, which cannot become another encoder: leave --subword out%s", own, c.Init, kind, without)
	case kind == SubwordNGram && c.in(Minibatch) || kind != SubwordNGram && !c.trains(withNetworks):
		return terminal.Usagef("--init %s has --subword %s, which mode %s does not train: take another mode%s", c.Init, kind, c.Mode, without)
	}
	for _, name := range slices.Sorted(maps.Keys(had)) {
		if s, _ := c.setting(name); name != "unseen" && c.uses(s) && s.String() != had[name] {
			return terminal.Usagef("--%s %s: --init %s has %s, and goes on with its own: leave --%s out%s", name, s, c.Init, had[name], name, without)
		}
	}
	return nil
}
