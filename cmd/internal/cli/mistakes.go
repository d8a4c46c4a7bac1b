package cli

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/train/settings"
)

// This file answers what people type by mistake: commands, flags and arguments that do not exist here.

// flagsElsewhere answers flags of word2vec.c, fastText and gensim, and others that people try, which have no equal here. The
// names are folded, see [terminal.Folded].
var flagsElsewhere = map[string]string{
	"i": "did you mean --corpus?", "o": "did you mean --out?", "file": "did you mean --corpus?", "save": "did you mean --out?",
	"gpu": "give --device cuda", "cuda": "give --device cuda", "cpu": "leave it out: that is the default, see --device",
	"verbose": "progress is shown without it; --quiet hides it", "debug": "progress is shown without it; --quiet hides it",
	"loss":    "negative sampling is the default; --mode word2vec --hierarchical-softmax trains with a Huffman tree",
	"classes": "w2vcl does not cluster words; 'w2vcl convert RUN vectors.npy' writes vectors for programs that do",
	"binary":  "vectors.bin has word2vec's binary format; 'w2vcl convert RUN vectors.txt' writes text",
	"label":   "w2vcl does not classify texts", "wordngrams": "w2vcl does not classify texts; 'w2vcl phrases' joins words",
	"saveoutput": "leave it out: context.bin always has the output vectors",
	"cbowmean":   "leave it out: --model cbow always takes the mean", "lrupdaterate": "leave it out: the rate changes in each step",
	"callbacks": "in Python, train(on_progress=function) calls a function during training",
	"trimrule":  "--min-count, --max-vocab and --vocab choose the words", "nullword": "leave it out: sentences are not padded",
	"sortedvocab": "leave it out: words are always in the order of their counts",
	"batchwords":  "leave it out: threads share the text by themselves",
	"hashfxn":     "leave it out: --seed alone decides",
	"stopwords":   "--sample thins out frequent words; remove others from the text first",
	"language":    "leave it out: any language will do", "totalexamples": "leave it out: sentences are counted",
}

// flagError makes a helpful message of an error of the flag parser.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var missing *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.Is(err, pflag.ErrHelp):
		return err
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "":
		return singleDash(cmd, unknown.GetSpecifiedShortnames())
	case errors.As(err, &unknown):
		return unknownFlag(cmd, "--", unknown.GetSpecifiedName(), "")
	case errors.As(err, &missing):
		return terminal.Usagef("--%s needs a value", missing.GetSpecifiedName())
	case errors.As(err, &invalid):
		return terminal.Usagef("--%s: %v", invalid.GetFlag().Name, errors.Unwrap(err))
	default:
		return terminal.Usagef("%v", err)
	}
}

// singleDash explains how to write word2vec's flags, such as -size 100, here.
func singleDash(cmd *cobra.Command, name string) error {
	name, _, _ = strings.Cut(name, "=")
	if help := cmd.Flags().Lookup("help"); help != nil && help.Changed { // the parser took -hs for -h and -s
		name = "h" + name
	}
	if flag := cmd.Flags().Lookup(name); flag != nil {
		return terminal.Usagef("-%s: flags have two dashes here: --%s", name, flag.Name)
	}
	return unknownFlag(cmd, "-", name, ", and flags have two dashes here")
}

// unknownFlag says what to do about a flag that the command does not have. more is something else that is wrong with it.
func unknownFlag(cmd *cobra.Command, dashes, name, more string) error {
	given := dashes + name
	_, isSetting := settings.Find(dashed(name))
	near := nearestFlag(cmd, name)
	switch answer := flagsElsewhere[terminal.Folded(name)]; {
	case !cmd.HasParent():
		return terminal.Usagef("%s: flags come after a command, as in '%s train --corpus FILE --out DIR'", given, cmd.Name())
	case answer != "" && cmd.Flags().Lookup("corpus") != nil:
		return terminal.Usagef("%s: no such flag; %s", given, answer)
	case isSetting && cmd.Name() == "resume":
		return terminal.Usagef("%s: a run keeps this setting; to train its vectors further with another value, use 'w2vcl train --init DIR'", given)
	case isSetting:
		return terminal.Usagef("%s: '%s' has no such flag; 'w2vcl train' has it", given, cmd.CommandPath())
	case near != "" && (more == "" || len(name) > 2):
		return terminal.Usagef("%s: no such flag%s; did you mean --%s?", given, more, near)
	default:
		return terminal.Usagef("%s: no such flag%s", given, more)
	}
}

// nearestFlag returns the flag whose name, by itself or elsewhere, is a typing error away or a part of what was typed, or "".
func nearestFlag(cmd *cobra.Command, name string) string {
	known := map[string]string{} // names of flags, by themselves and by aliases
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		if flag.Hidden {
			return
		}
		known[flag.Name] = flag.Name
		if setting, ok := flag.Value.(SettingValue); ok {
			for _, alias := range setting.Aliases {
				known[dashed(alias)] = flag.Name
			}
		}
	})
	maps.DeleteFunc(known, func(name, _ string) bool { return len(name) < 3 })
	names := slices.Sorted(maps.Keys(known))
	if near := terminal.Nearest(dashed(name), slices.Values(names)); near != "" {
		return known[near]
	}
	part := ""
	for _, k := range names {
		if len(k) > len(part) && (strings.HasPrefix(name, k) || strings.Contains("-"+dashed(name)+"-", "-"+k+"-")) {
			part = k
		}
	}
	return known[part]
}

// unknownCommand names the word that is no command, and commands like it.
func unknownCommand(root *cobra.Command, args []string) error {
	word := ""
	if _, rest, _ := root.Find(args); len(rest) > 0 {
		word = rest[0]
	}
	if strings.HasPrefix(word, "-") {
		return terminal.Usagef("%s: flags come after a command, as in '%s train --corpus FILE --out DIR'", word, root.Name())
	}
	for _, c := range root.Commands() {
		if slices.Contains(c.SuggestFor, dashed(word)) {
			return terminal.Usagef("%s: no such command; did you mean %s?", word, c.Name())
		}
	}
	if near := root.SuggestionsFor(word); len(near) > 0 {
		return terminal.Usagef("%s: no such command; did you mean %s?", word, strings.Join(near, " or "))
	}
	if _, err := os.Stat(word); err == nil {
		return terminal.Usagef("%s: no such command; to train on a text, use '%s train %s --out DIR'", word, root.Name(), word)
	}
	return terminal.Usagef("%s: no such command", word)
}

// OneCorpus is a check of arguments: --corpus may stand without its name.
func OneCorpus(cmd *cobra.Command, args []string) error {
	corpus := cmd.Flags().Lookup("corpus")
	for _, arg := range args {
		if value, is := switchValues[strings.ToLower(arg)]; is {
			return terminal.Usagef("unexpected argument %q: a switch takes its value with an equals sign, as in --lowercase=%s", arg, value)
		}
	}
	if setting, ok := corpus.Value.(SettingValue); ok && corpus.Changed && len(args) > 0 && isFile(args[0]) { // --corpus *.txt
		args = append([]string{setting.set[setting.Name]}, args...)
	} else if corpus.Changed || len(args) == 0 || dashHint(args[0]) != "" {
		return Exactly()(cmd, args)
	}
	if len(args) > 1 {
		return terminal.Usagef("%d texts, %s and others: give the folder that holds them, or 'cat %s | %s --corpus -'",
			len(args), args[0], strings.Join(args, " "), cmd.CommandPath())
	}
	return cmd.Flags().Set("corpus", args[0])
}

// switchValues are the ways to write the value of a switch.
var switchValues = map[string]string{
	"true": "true", "yes": "true", "on": "true", "1": "true", "false": "false", "no": "false", "off": "false", "0": "false",
}

func isFile(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Exactly returns a check that a command has its arguments. names are their names in
// the usage line.
func Exactly(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < len(names) {
			return terminal.Usagef("%s is missing: %s", names[len(args)], cmd.UseLine())
		}
		if len(args) > len(names) {
			hint := cmp.Or(dashHint(args[len(names)]), ": "+cmd.UseLine())
			return terminal.Usagef("unexpected argument %q%s", args[len(names)], hint)
		}
		return nil
	}
}

// dashHint explains an argument that was probably meant as a flag.
func dashHint(arg string) string {
	if strings.HasPrefix(arg, "–") || strings.HasPrefix(arg, "—") {
		return " (a typographic dash: flags begin with two hyphens)"
	}
	return ""
}

// WordsOf returns a check that after the argument of the given name comes at least
// one word.
func WordsOf(name string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < 2 {
			return Exactly(name, "WORD")(cmd, args)
		}
		return nil
	}
}

// missing returns the error of an input that is not there, with what was probably meant.
func missing(f *File) error {
	what := "there is no such file or folder"
	if f.Use == FileStream {
		what = "there is no such file"
	}
	return fmt.Errorf("%s %s: %s%s", f.Name, f.Path, what, terminal.NearestFile(f.Path))
}
