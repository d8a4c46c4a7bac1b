package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/w2vcl/w2vcl/train/settings"
)

// sectionAnnotation holds the heading that help lists a flag under.
const sectionAnnotation = "section"

// SettingFlags collects the settings that were given as flags, and the
// configuration file beneath them: what settings.Resolve takes.
type SettingFlags struct {
	File string
	Set  map[string]string // text by the setting's name
}

// AddTo defines the flags of the settings that include accepts, and --config.
func (f *SettingFlags) AddTo(cmd *cobra.Command, include func(settings.Setting) bool) {
	f.AddSettings(cmd, include)
	cmd.Flags().StringVar(&f.File, "config", "", "read settings from a TOML `FILE`; flags win over it")
	Annotate(cmd.Flags().Lookup("config"), settings.SectionRun)
}

// AddSettings is addTo without --config.
func (f *SettingFlags) AddSettings(cmd *cobra.Command, include func(settings.Setting) bool) {
	f.Set = map[string]string{}
	defaults := settings.Defaults("", "", "", "")
	aliases := map[string]string{}
	flags := cmd.Flags()
	for _, s := range defaults.Settings() {
		if !include(s) {
			continue
		}
		flag := flags.VarPF(SettingValue{s, f.Set}, s.Name, "", s.Help())
		complete(cmd, s)
		Annotate(flag, s.HelpSection())
		if s.IsBool() {
			flag.NoOptDefVal = "true"
		}
		for _, alias := range s.Aliases {
			aliases[dashed(alias)] = s.Name
		}
	}
	UseAliases(flags, aliases)
	addModelSwitches(flags, f.Set)
	skipGram := settings.Defaults("", "", "", settings.ModelSkipGram)
	ShowDefaults(cmd, &skipGram)
	ShowDefaults(cmd, &defaults)
}

// ShowDefaults makes help show the values of a configuration as the defaults of the settings that it uses.
func ShowDefaults(cmd *cobra.Command, c *settings.Config) {
	for _, s := range c.Settings() {
		flag := cmd.Flags().Lookup(s.Name)
		if flag == nil || !s.AppliesWith(c.Mode, c.Model) {
			continue
		}
		if _, ok := flag.Value.(SettingValue); !ok { // a flag of the command that has the name of a setting
			continue
		}
		flag.Usage = s.Help()
		if flag.DefValue = ""; s.ShowsDefault() && s.Name != "corpus" {
			flag.DefValue = s.String()
		}
	}
}

// A modelSwitch is the value of a flag of word2vec.c or gensim that chooses the model with 1 or 0.
type modelSwitch struct {
	set    map[string]string
	models [2]string // of 0 and 1
}

// Set implements [pflag.Value].
func (m modelSwitch) Set(text string) error {
	if text != "0" && text != "1" {
		return fmt.Errorf("%q is not 0 or 1; see --model", text)
	}
	m.set["model"] = m.models[text[0]-'0']
	return nil
}

func (m modelSwitch) String() string { return "" }

// Type implements [pflag.Value].
func (m modelSwitch) Type() string { return "0|1" }

// addModelSwitches adds --sg and --cbow, which stand for --model, and gensim's --compute-loss, which is always on.
func addModelSwitches(flags *pflag.FlagSet, set map[string]string) {
	if flags.Lookup("model") == nil {
		return
	}
	for name, models := range map[string][2]string{
		"sg":   {settings.ModelCBOW, settings.ModelSkipGram},
		"cbow": {settings.ModelSkipGram, settings.ModelCBOW},
	} {
		flags.VarPF(modelSwitch{set, models}, name, "", "").Hidden = true
	}
	flags.Bool("compute-loss", true, "")
	flags.Lookup("compute-loss").Hidden = true
}

// UseAliases gives flags other names, and accepts underscores in names.
func UseAliases(flags *pflag.FlagSet, aliases map[string]string) {
	flags.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		name = dashed(name)
		if canonical, ok := aliases[name]; ok {
			name = canonical
		}
		return pflag.NormalizedName(name)
	})
}

func dashed(name string) string { return strings.ReplaceAll(name, "_", "-") }

// Annotate puts a flag into a section of help.
func Annotate(flag *pflag.Flag, section string) {
	flag.Annotations = map[string][]string{sectionAnnotation: {section}}
}

// A SettingValue is a setting as the value of a flag. It keeps the texts that were
// given: only these go over the configuration file.
type SettingValue struct {
	settings.Setting
	set map[string]string
}

// Set remembers the text; [settings.Resolve] parses it. Of two texts to train on, the first one would be lost.
func (v SettingValue) Set(text string) error {
	if before, given := v.set[v.Name]; given && v.Name == "corpus" && before != text {
		return errors.New("given twice: give a folder of texts, or write them to one pipe, and --corpus -")
	}
	v.set[v.Name] = text
	return nil
}

// complete makes shells complete the choices of a setting.
func complete(cmd *cobra.Command, s settings.Setting) {
	if s.Choices == nil {
		return
	}
	var names []cobra.Completion
	for _, choice := range s.Choices {
		names = append(names, cobra.CompletionWithDesc(choice.Name, choice.Help))
	}
	CompleteValues(cmd, s.Name, names...)
}

// AddJSON defines --json.
func AddJSON(cmd *cobra.Command, target *bool, help string) {
	cmd.Flags().BoolVar(target, "json", false, help)
}

// A flagSection is a heading of help with its flags in help.
type flagSection struct{ Title, Usages string }

const helpWidth = 100

// flagSections sorts a command's flags under their headings.
func flagSections(cmd *cobra.Command) []flagSection {
	const rest = "Output and help"
	sets := map[string]*pflag.FlagSet{}
	cmd.Flags().SortFlags = false
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		title := rest
		if section := flag.Annotations[sectionAnnotation]; len(section) > 0 {
			title = section[0]
		}
		if sets[title] == nil {
			sets[title] = pflag.NewFlagSet(title, pflag.ContinueOnError)
			sets[title].SortFlags = false
		}
		sets[title].AddFlag(flag)
	})
	var sections []flagSection
	for _, title := range slices.Concat(settings.Sections(), []string{rest}) {
		if set := sets[title]; set != nil && set.HasAvailableFlags() {
			sections = append(sections, flagSection{title, set.FlagUsagesWrapped(helpWidth)})
		}
	}
	if len(sections) == 1 {
		sections[0].Title = "Flags"
	}
	return sections
}
