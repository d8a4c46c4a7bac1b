package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/w2vcl/w2vcl/train/settings"
)

// usualFlags are the flags that the short help (-h) of a command shows, of those that it has.
var usualFlags = []string{
	"corpus", "out", "tokenizer", "lowercase", "min-count", "dim", "iterations", "epochs", "budget", "mode", "device",
}

// FewFlags is how many flags a command may have so that its short help shows them all.
const FewFlags = 14

// showHelp returns a help function for two lengths: -h is short, --help and the command
// help are long. mainFlags are the flags of short help of commands that show others than the
// usual ones.
func showHelp(long func(*cobra.Command, []string), mainFlags map[string][]string) func(*cobra.Command, []string) {
	return func(cmd *cobra.Command, args []string) {
		if !slices.Contains(args, "-h") || slices.Contains(args, "--help") {
			long(cmd, args)
			return
		}
		shown := visibleFlags(cmd)
		if len(shown) <= FewFlags || cmd.HasAvailableSubCommands() {
			long(cmd, args)
			return
		}
		names, ok := mainFlags[cmd.Name()]
		if !ok {
			names = usualFlags
		}
		var out strings.Builder
		fmt.Fprintf(&out, "%s\n\nUsage:\n  %s\n", cmd.Short, cmd.UseLine())
		if slices.Contains(names, "mode") {
			out.WriteString("\nModes (--help also lists those of papers):\n" + modesByUse())
		}
		out.WriteString("\nMain flags:\n")
		w := tabwriter.NewWriter(&out, 0, 0, 3, ' ', 0)
		for _, name := range names {
			if i := slices.IndexFunc(shown, func(flag *pflag.Flag) bool { return flag.Name == name }); i >= 0 {
				_, _ = fmt.Fprintln(w, brief(shown[i])) // to memory
			}
		}
		_ = w.Flush()
		fmt.Fprintf(&out, "\nRun '%s --help' for all %d flags, and for examples.\n", cmd.CommandPath(), len(shown))
		_, _ = io.WriteString(cmd.OutOrStdout(), out.String())
	}
}

// modesByUse lists the modes that are not only in papers, and when to take them.
func modesByUse() string {
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 3, ' ', 0)
	for _, m := range settings.Modes() {
		if m.When != "" {
			_, _ = fmt.Fprintf(w, "  %s\t%s\n", m.Name, m.When) // to memory
		}
	}
	_ = w.Flush()
	return out.String()
}

// brief is a flag in one line: its help until the first mark of punctuation, and its default.
func brief(flag *pflag.Flag) string {
	value, help := pflag.UnquoteUsage(flag)
	if at := strings.IndexAny(help, ":;,("); at >= 0 {
		help = strings.TrimSpace(help[:at])
	}
	if flag.NoOptDefVal != "" {
		value = ""
	}
	if !slices.Contains([]string{"", "false", "0", "[]"}, flag.DefValue) {
		help += fmt.Sprintf(" (default %s)", flag.DefValue)
	}
	return strings.TrimRight("      --"+flag.Name+" "+value, " ") + "\t" + help
}

// visibleFlags are the flags of a command that help shows.
func visibleFlags(cmd *cobra.Command) []*pflag.Flag {
	var flags []*pflag.Flag
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		if !flag.Hidden {
			flags = append(flags, flag)
		}
	})
	return flags
}

// CompleteValues makes shells complete the values of a flag.
func CompleteValues(cmd *cobra.Command, flag string, values ...string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)) // the flag is new, so there is no error
}
