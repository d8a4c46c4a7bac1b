// Package cli is what the command lines of our programs share: how a command runs, with its exit
// code and its end at an interrupt ([Run]); help and messages; flags of settings; and the guard of
// the files that a command reads and writes (guard.go).
package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
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
	ExitDone        = 0
	ExitFailed      = 1
	ExitUsage       = 2
	ExitInterrupted = 130 // interrupted; the message says what is saved
)

const interruptionGrace = 500 * time.Millisecond

// A Program is what Run runs.
type Program struct {
	Root   *cobra.Command
	Saving []string // names of the commands that save something when they are interrupted
	Silent bool     // another process announces an interruption: rank 0

	Early chan os.Signal // has a signal that came before Run; nil: none can have
}

// Run runs one command line and returns its exit code. Commands that save something when
// they are interrupted are given the time for it; others have interruptionGrace.
func Run(ctx context.Context, p Program, args []string, s Streams) int {
	root := p.Root
	root.SetArgs(args)
	cmd, _, _ := root.Find(args) // an error is found again below
	ctx, restore := terminal.Interruptible(ctx, p.Early)
	defer restore()
	err := p.interruptible(ctx, savesSomething(cmd, p.Saving), s)
	if err == nil {
		return ExitDone
	}
	if strings.HasPrefix(err.Error(), "unknown command") { // cobra's error has no type
		err = unknownCommand(root, args)
	}
	if IsCancellation(ctx, err) {
		err = fmt.Errorf("%w; nothing was written", train.ErrInterrupted)
	}
	s.Notef("%s", Prefixed(root.Name()+": ", err.Error()))
	switch {
	case errors.Is(err, train.ErrInterrupted):
		return ExitInterrupted
	case errors.As(err, new(*terminal.UsageError)):
		s.Notef("Run '%s --help' for help.", cmd.CommandPath())
		return ExitUsage
	default:
		return ExitFailed
	}
}

// interruptible runs the command. One that saves nothing does not outlive an interruption by
// long, even while it waits for a pipe.
func (p Program) interruptible(ctx context.Context, saves bool, s Streams) error {
	done := make(chan error, 1)
	go func() { done <- p.Root.ExecuteContext(ctx) }()
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
	if !p.Silent {
		s.Notef("\nStopping as soon as possible. Press Ctrl-C again to quit at once.")
	}
	return <-done
}

// savesSomething reports whether a command saves something when it is interrupted.
func savesSomething(cmd *cobra.Command, saving []string) bool {
	for ; cmd.HasParent(); cmd = cmd.Parent() {
		if slices.Contains(saving, cmd.Name()) {
			return true
		}
	}
	return false
}

// IsCancellation reports whether an error says nothing but that the context ended.
func IsCancellation(ctx context.Context, err error) bool {
	return ctx.Err() != nil && !errors.Is(err, train.ErrInterrupted) &&
		(errors.Is(err, context.Canceled) || errors.Is(err, context.Cause(ctx)))
}

// Prefixed puts the program's name before every line of a message.
func Prefixed(prefix, message string) string {
	return prefix + strings.ReplaceAll(strings.TrimSpace(message), "\n", "\n"+prefix)
}

// SetUp gives a program, which has all its commands, our messages and help, and makes every
// command check its files before it runs. mainFlags are the flags of commands with many, see
// showHelp; files are the lists of the files of commands.
func SetUp(root *cobra.Command, s Streams, mainFlags map[string][]string, files map[string]func(v FileValues) []File) {
	cobra.EnableCommandSorting = false                 // list commands in the order of use
	root.SilenceErrors, root.SilenceUsage = true, true // Run prints them
	root.Version = Version()
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.SetFlagErrorFunc(flagError)
	root.SetUsageTemplate(usageTemplate)
	root.SetHelpTemplate(helpTemplate)
	cobra.AddTemplateFunc("flagSections", flagSections)
	root.SetHelpFunc(showHelp(root.HelpFunc(), mainFlags))
	guardCommands(root.Commands(), files)
	root.InitDefaultCompletionCmd()
	if completion, _, err := root.Find([]string{"completion"}); err == nil {
		namesACommand(completion)
	}
	root.SetHelpCommand(newHelp(root))
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
{{.Example}}{{end}}{{if .HasAvailableSubCommands}}{{range .Groups}}{{$id := .ID}}

{{.Title}}:{{range $.Commands}}{{if and .IsAvailableCommand (eq .GroupID $id)}}
  {{rpad .Name .NamePadding }} {{.Short}}{{end}}{{end}}{{end}}

{{if .Groups}}More commands{{else}}Commands{{end}}:{{range .Commands}}{{if and .IsAvailableCommand (eq .GroupID "")}}
  {{rpad .Name .NamePadding }} {{.Short}}{{end}}{{end}}

Run '{{.CommandPath}} COMMAND -h' for the main flags of a command, --help for all.{{end}}{{range flagSections .}}

{{.Title}}:
{{.Usages | trimTrailingWhitespaces}}{{end}}
`

// NewGroup returns a command that only has commands below it.
func NewGroup(name, short, long string, commands ...*cobra.Command) *cobra.Command {
	group := &cobra.Command{Use: name, Short: short, Long: long}
	group.AddCommand(commands...)
	namesACommand(group)
	return group
}

// namesACommand makes a group show its help, and refuse a word that is none of its commands.
func namesACommand(group *cobra.Command) {
	group.Args = func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		var names []string
		for _, c := range group.Commands() {
			if !c.Hidden {
				names = append(names, c.Name())
			}
		}
		return terminal.Usagef("%s %s: no such command; there are %s", group.Name(), args[0], Enumerate(names))
	}
	group.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
}
