package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// usualFlags are the flags that the short help (-h) of a command shows, of those that it has.
var usualFlags = []string{"corpus", "out", "mode", "model", "config", "tokenizer", "lowercase", "min-count", "dim", "window", "epochs", "device", "threads", "force"}

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
		for _, flag := range shown {
			flag.Hidden = !slices.Contains(names, flag.Name)
		}
		example := cmd.Example
		defer func() { cmd.Example = example }()
		cmd.Example, _, _ = strings.Cut(cmd.Example, "\n")
		_, _ = fmt.Fprintf(cmd.OutOrStdout(), "%s\n\n%s\nThese are the main flags of %d. Run '%s --help' for all, and for more examples.\n",
			cmd.Short, cmd.UsageString(), len(shown), cmd.CommandPath())
	}
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
