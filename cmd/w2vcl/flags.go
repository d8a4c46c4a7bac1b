package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/settings"
)

// groupAnnotation holds the heading that help lists a flag under.
const groupAnnotation = "group"

// settingFlags collects the settings that were given as flags, and the
// configuration file beneath them.
type settingFlags struct {
	file string
	set  map[string]string // text by the setting's name
}

// addTo defines the flags of the settings that include accepts, and --config.
func (f *settingFlags) addTo(cmd *cobra.Command, include func(settings.Setting) bool) {
	f.addSettings(cmd, include)
	cmd.Flags().StringVar(&f.file, "config", "", "read settings from a TOML `FILE`; flags win over it")
	annotate(cmd.Flags().Lookup("config"), settings.GroupRun)
}

// addSettings is addTo without --config.
func (f *settingFlags) addSettings(cmd *cobra.Command, include func(settings.Setting) bool) {
	f.set = map[string]string{}
	defaults := settings.Defaults("", "", "")
	aliases := map[string]string{}
	flags := cmd.Flags()
	for _, s := range defaults.Settings() {
		if !include(s) {
			continue
		}
		flag := flags.VarPF(settingValue{s, f.set}, s.Name, "", s.Help())
		complete(cmd, s)
		annotate(flag, s.Group)
		if s.IsBool() {
			flag.NoOptDefVal = "true"
		}
		if !s.ShowsDefault() {
			flag.DefValue = ""
		}
		for _, alias := range s.Aliases {
			aliases[dashed(alias)] = s.Name
		}
	}
	for _, o := range settings.OlderSettings() {
		if now, ok := settings.Find(o.Now); ok && include(now) {
			flags.VarPF(settingValue{settings.Setting{Name: o.Name}, f.set}, o.Name, "", "the older name of --"+o.Now).Hidden = true
		}
	}
	useAliases(flags, aliases)
}

// useAliases gives flags other names, and accepts underscores in names.
func useAliases(flags *pflag.FlagSet, aliases map[string]string) {
	flags.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		name = dashed(name)
		if canonical, ok := aliases[name]; ok {
			name = canonical
		}
		return pflag.NormalizedName(name)
	})
}

func dashed(name string) string { return strings.ReplaceAll(name, "_", "-") }

// annotate puts a flag into a group of help.
func annotate(flag *pflag.Flag, group string) {
	flag.Annotations = map[string][]string{groupAnnotation: {group}}
}

// config resolves recipe, file and flags.
func (f *settingFlags) config() (settings.Config, error) { return settings.Resolve(f.file, f.set) }

// A settingValue is a setting as the value of a flag. It keeps the texts that were
// given: only these go over the configuration file.
type settingValue struct {
	settings.Setting
	set map[string]string
}

// Set remembers the text; [settings.Resolve] parses it.
func (v settingValue) Set(text string) error {
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
	_ = cmd.RegisterFlagCompletionFunc(s.Name, cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp)) // the flag is new, so there is no error
}

// helpOfMode makes --help show the flags and defaults of the mode on the command line.
func helpOfMode(cmd *cobra.Command) {
	cmd.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		chosen := map[string]string{"corpus": "-"} // the only setting without a default
		for _, name := range []string{"mode", "preset", "optimizer", "subword"} {
			if text := valueOf(args, "--"+name); text != "" {
				chosen[name] = text
			}
		}
		if c, err := settings.Resolve("", chosen); err == nil { // otherwise it shows the defaults of mode cl
			for _, s := range c.Settings() {
				flag := cmd.Flags().Lookup(s.Name)
				flag.Hidden = flag.Hidden || !s.AppliesTo(c.Mode)
				if flag.DefValue = ""; s.ShowsDefault() && s.Name != "corpus" {
					flag.DefValue = s.String()
				}
			}
		}
		cmd.Parent().HelpFunc()(cmd, args)
	})
}

// valueOf returns the last value of a flag on a command line, or "".
func valueOf(args []string, flag string) (value string) {
	for i, arg := range args {
		if text, ok := strings.CutPrefix(arg, flag+"="); ok {
			value = text
		} else if arg == flag && i+1 < len(args) {
			value = args[i+1]
		}
	}
	return value
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
		name := unknown.GetSpecifiedName()
		if near := nearestFlag(cmd, name); near != "" {
			return terminal.Usagef("--%s: no such flag; did you mean --%s?", name, near)
		}
		return terminal.Usagef("--%s: no such flag", name)
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
	if flag := cmd.Flags().Lookup(name); flag != nil {
		return terminal.Usagef("-%s: flags have two dashes here: --%s", name, flag.Name)
	}
	if near := nearestFlag(cmd, name); near != "" && len(name) > 2 {
		return terminal.Usagef("-%s: no such flag, and flags have two dashes here; did you mean --%s?", name, near)
	}
	return terminal.Usagef("-%s: no such flag (flags have two dashes here)", name)
}

// nearestFlag returns the flag whose name is a typing error away, or "".
func nearestFlag(cmd *cobra.Command, name string) string {
	var known []string
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		if !flag.Hidden {
			known = append(known, flag.Name)
		}
	})
	return terminal.Nearest(dashed(name), slices.Values(known))
}

// addJSON defines --json.
func addJSON(cmd *cobra.Command, target *bool, help string) {
	cmd.Flags().BoolVar(target, "json", false, help)
}

// A flagGroup is a group of flags in help.
type flagGroup struct{ Title, Usages string }

const helpWidth = 100

// flagGroups sorts a command's flags under their headings.
func flagGroups(cmd *cobra.Command) []flagGroup {
	const rest = "Output and help"
	sets := map[string]*pflag.FlagSet{}
	cmd.Flags().SortFlags = false
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		title := rest
		if group := flag.Annotations[groupAnnotation]; len(group) > 0 {
			title = group[0]
		}
		if sets[title] == nil {
			sets[title] = pflag.NewFlagSet(title, pflag.ContinueOnError)
			sets[title].SortFlags = false
		}
		sets[title].AddFlag(flag)
	})
	var groups []flagGroup
	for _, title := range slices.Concat(settings.Groups(), []string{rest}) {
		if set := sets[title]; set != nil && set.HasAvailableFlags() {
			groups = append(groups, flagGroup{title, set.FlagUsagesWrapped(helpWidth)})
		}
	}
	if len(groups) == 1 {
		groups[0].Title = "Flags"
	}
	return groups
}
