package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/w2vcl/w2vcl/internal/atomicfile"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/train"
)

// Exit codes, part of the command line's contract.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130 // interrupted; the message says what is saved
)

// savingCommands are those that save something when they are interrupted. They are
// given the time for it; others have interruptionGrace.
var savingCommands = []string{"train", "resume", "demo", "compare", "bench", "profile"}

const interruptionGrace = 500 * time.Millisecond

// run executes one command line and returns its exit code.
func run(ctx context.Context, args []string, s streams) int {
	root := newRoot(s)
	root.SetArgs(args)
	cmd, _, _ := root.Find(args) // an error is found again below
	ctx, restore := terminal.Interruptible(ctx)
	defer restore()
	err := execute(ctx, root, savesSomething(cmd), s)
	if err == nil {
		return exitDone
	}
	if strings.HasPrefix(err.Error(), "unknown command") { // cobra's error has no type
		err = unknownCommand(root, args)
	}
	if isCancellation(ctx, err) {
		err = fmt.Errorf("%w; nothing was written", train.ErrInterrupted)
	}
	s.notef("%s", prefixed("w2vcl: ", err.Error()))
	switch {
	case errors.Is(err, train.ErrInterrupted):
		return exitInterrupted
	case errors.As(err, new(*terminal.UsageError)):
		s.notef("Run '%s --help' for help.", cmd.CommandPath())
		return exitUsage
	default:
		return exitFailed
	}
}

// execute runs the command. One that saves nothing does not outlive an interruption by
// long, even while it waits for a pipe.
func execute(ctx context.Context, root *cobra.Command, saves bool, s streams) error {
	done := make(chan error, 1)
	go func() { done <- root.ExecuteContext(ctx) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-done:
		return err
	case <-time.After(interruptionGrace):
	}
	if !saves {
		atomicfile.Abandon()
		return ctx.Err()
	}
	if l, _ := launched(); l.Rank == 0 { // of ranks one tells
		s.notef("\nStopping after the current step. Press Ctrl-C again to quit at once.")
	}
	return <-done
}

// savesSomething reports whether a command saves something when it is interrupted.
func savesSomething(cmd *cobra.Command) bool {
	for ; cmd.HasParent(); cmd = cmd.Parent() {
		if slices.Contains(savingCommands, cmd.Name()) {
			return true
		}
	}
	return false
}

// isCancellation reports whether an error says nothing but that the context ended.
func isCancellation(ctx context.Context, err error) bool {
	return ctx.Err() != nil && !errors.Is(err, train.ErrInterrupted) &&
		(errors.Is(err, context.Canceled) || errors.Is(err, context.Cause(ctx)))
}

// prefixed puts the program's name before every line of a message.
func prefixed(prefix, message string) string {
	return prefix + strings.ReplaceAll(strings.TrimSpace(message), "\n", "\n"+prefix)
}

// unknownCommand names the word that is no command, and commands like it.
func unknownCommand(root *cobra.Command, args []string) error {
	word := ""
	if _, rest, _ := root.Find(args); len(rest) > 0 {
		word = rest[0]
	}
	if near := root.SuggestionsFor(word); len(near) > 0 {
		return terminal.Usagef("%s: no such command; did you mean %s?", word, strings.Join(near, " or "))
	}
	return terminal.Usagef("%s: no such command", word)
}

func newRoot(s streams) *cobra.Command {
	cobra.EnableCommandSorting = false // list commands in the order of use
	root := &cobra.Command{
		Use:   "w2vcl",
		Short: "Train word vectors in large batches (W2V-CL) or sentence by sentence, score and use them",
		Long: `w2vcl trains word vectors with W2V-CL: the whole vocabulary is one batch, the
number of iterations is known beforehand, and the result is the same for any
number of threads. It also trains sentence by sentence, with other algorithms
(see 'w2vcl train --help' at --mode). It scores vectors and answers questions with
them. It reads and writes vectors as word2vec text and binary files, fastText's
.vec and .bin, GloVe text, NumPy arrays, safetensors and files of TensorBoard's
projector.

New here? Run 'w2vcl demo': one minute, no files needed.`,
		Example: `  w2vcl demo
  w2vcl train --corpus news.txt.gz --out runs/news
  w2vcl neighbors runs/news economy`,
		SilenceErrors: true, // run prints them
		SilenceUsage:  true,
		Version:       version(),
	}
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.SetVersionTemplate("w2vcl {{.Version}}\n")
	root.SetFlagErrorFunc(flagError)
	root.SetUsageTemplate(usageTemplate)
	root.SetHelpTemplate(helpTemplate)
	cobra.AddTemplateFunc("flagGroups", flagGroups)
	root.SetHelpFunc(showHelp(root.HelpFunc()))
	root.AddCommand(
		newDemo(s), newTrain(s), newResume(s), newPlan(s), newCorpus(s), newMatrix(s), newPhrases(s), newWalk(s),
		newEval(s), newCompare(s), newWatch(s), newMetrics(s), newMap(s), newNeighbors(s), newAnalogy(s), newVector(s), newConvert(s),
		newBench(s), newProfile(s), newDoctor(s), newVersion(s), newMan(s),
	)
	guardCommands(root.Commands())
	root.InitDefaultCompletionCmd()
	root.SetHelpCommand(newHelp(root))
	return root
}

// newHelp returns the command help, which --help replaces in help.
func newHelp(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND]", Short: "Show the help of a command", Hidden: true,
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return unknownCommand(root, args)
			}
			cmd.InitDefaultHelpFlag()
			return cmd.Help()
		},
	}
}

const helpTemplate = `{{with (or .Long .Short)}}{{. | trimTrailingWhitespaces}}

{{end}}{{.UsageString}}`

const usageTemplate = `Usage:{{if .HasAvailableSubCommands}}
  {{.CommandPath}} COMMAND [flags]{{else}}
  {{.UseLine}}{{end}}{{if .HasExample}}

Examples:
{{.Example}}{{end}}{{if .HasAvailableSubCommands}}

Commands:{{range .Commands}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding }} {{.Short}}{{end}}{{end}}

Run '{{.CommandPath}} COMMAND -h' for the main flags of a command, --help for all.{{end}}{{range flagGroups .}}

{{.Title}}:
{{.Usages | trimTrailingWhitespaces}}{{end}}
`

// newGroup returns a command that only has commands below it.
func newGroup(name, short, long, example string, commands ...*cobra.Command) *cobra.Command {
	var names []string
	for _, c := range commands {
		if !c.Hidden {
			names = append(names, c.Name())
		}
	}
	group := &cobra.Command{
		Use: name, Short: short, Long: long, Example: example,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return terminal.Usagef("%s %s: no such command; there are %s", name, args[0], enumerate(names))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	group.AddCommand(commands...)
	return group
}

// exactly returns a check that a command has its arguments. names are their names in
// the usage line.
func exactly(names ...string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < len(names) {
			return terminal.Usagef("%s is missing", names[len(args)])
		}
		if len(args) > len(names) {
			return terminal.Usagef("unexpected argument %q%s", args[len(names)], dashHint(args[len(names)]))
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

// wordsOf returns a check that after the argument of the given name comes at least
// one word.
func wordsOf(name string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < 2 {
			return exactly(name, "WORD")(nil, args)
		}
		return nil
	}
}
