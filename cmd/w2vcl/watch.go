package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/w2vcl/w2vcl/cmd/internal/cli"
	"github.com/w2vcl/w2vcl/compare"
	"github.com/w2vcl/w2vcl/internal/atomicfile"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/train"
	"github.com/w2vcl/w2vcl/train/runfolder"
	"github.com/w2vcl/w2vcl/train/settings"
)

type watchOptions struct {
	once  bool
	html  string
	every int
}

func newWatch(s cli.Streams) *cobra.Command {
	var o watchOptions
	cmd := &cobra.Command{
		Use:   "watch DIR [flags]",
		Short: "Watch a training: loss, rate, speed, scores, ETA",
		Long: `Show how a training goes, or how it went: loss, learning rate, speed and ETA, and for a
run of 'w2vcl compare' also its scores and the loss of frequent and rare words. The
picture follows the run until the run ends; Ctrl-C ends watching, not training. Without
a terminal, each event is printed on a line of its own.

--html writes a page instead, and renews it until the run ends. A browser that shows
the page updates it by itself.`,
		Example: `  w2vcl watch runs/wiki
  w2vcl watch runs/wiki --once
  w2vcl watch runs/wiki --html wiki.html`,
		Args: cli.Exactly("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), s, args[0]) },
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.once, "once", false, "show the run as it is now, and end")
	flags.StringVar(&o.html, "html", "", "write a page that updates itself to `FILE`")
	flags.IntVar(&o.every, "every", 2, "look at the run every `N` seconds")
	flags.Bool("force", false, "replace FILE of --html if it is a page of watch")
	return cmd
}

func (o *watchOptions) run(ctx context.Context, s cli.Streams, dir string) error {
	if o.every < 1 || o.every > 3600 {
		return terminal.Usagef("--every %d: must be from 1 to 3600", o.every)
	}
	w, err := readWatched(dir)
	if err != nil {
		return err
	}
	show := o.display(s)
	for {
		if err := show(w); err != nil || o.once || !w.going {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: watching ended, the training did not", train.ErrInterrupted)
		case <-time.After(time.Duration(o.every) * time.Second):
		}
		// A folder changes its name when its run ends, so one look may fail.
		next, err := readWatched(dir)
		if err != nil {
			next, err = readWatched(dir)
		}
		if err != nil {
			return err
		}
		w = next
	}
}

// display returns the function that shows a run.
func (o *watchOptions) display(s cli.Streams) func(*watched) error {
	file, isFile := s.Out.(*os.File)
	onTerminal := isFile && term.IsTerminal(int(file.Fd()))
	switch {
	case o.html != "":
		if !o.once {
			s.Notef("Writing %s until the run ends; Ctrl-C ends watching", o.html)
		}
		return func(w *watched) error {
			every := o.every
			if !w.going || o.once {
				every = 0
			}
			return atomicfile.Write(o.html, func(out io.Writer) error { return w.writePage(out, every) })
		}
	case onTerminal:
		above := 0 // lines of the picture before
		return func(w *watched) error {
			lines := w.picture(terminal.Width(file) - 1)
			back := ""
			if above > 0 {
				back = fmt.Sprintf("\x1b[%dA\x1b[J", above)
			}
			above = len(lines)
			_, err := io.WriteString(s.Out, back+strings.Join(lines, "\n")+"\n")
			return err
		}
	case o.once:
		return func(w *watched) error {
			_, err := io.WriteString(s.Out, strings.Join(w.picture(79), "\n")+"\n")
			return err
		}
	default:
		seen := -1
		return func(w *watched) error {
			if len(w.metrics) == seen && w.going {
				return nil
			}
			seen = len(w.metrics)
			_, err := fmt.Fprintf(s.Out, "%s\n", strings.Join(append([]string{w.state()}, w.news()...), "  "))
			return err
		}
	}
}

// A watched run is what there is to see of a run at one moment.
type watched struct {
	name    string
	config  settings.Config
	metrics []runfolder.Metric
	going   bool
	summary runfolder.Summary // of a run that ended
	quiet   time.Duration     // since the last news of a run that is going
	points  []compare.Point   // of a run of a comparison
}

func readWatched(dir string) (*watched, error) {
	run, err := runfolder.OpenLatest(dir)
	if err != nil {
		return nil, err
	}
	w := &watched{name: strings.TrimSuffix(filepath.Clean(dir), ".partial"), going: run.Going()}
	if w.config, err = run.Config(); err != nil {
		return nil, err
	}
	if w.metrics, err = run.Metrics(); err != nil && !w.going { // a run that begins has none yet
		return nil, err
	}
	if info, err := os.Stat(run.Path(runfolder.MetricsFile)); err == nil {
		w.quiet = time.Since(info.ModTime())
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("cannot read metrics: %w", err)
	}
	if w.summary, _, err = run.Summary(); err != nil {
		return nil, err
	}
	record, _, err := compare.ReadRecord(w.name)
	w.points = record.Points
	return w, err
}

// state says how far the run is.
func (w *watched) state() string {
	switch {
	case !w.going && w.summary.Interrupted:
		return "interrupted"
	case !w.going:
		return "finished"
	case len(w.metrics) == 0:
		return "no news yet"
	case w.quiet > 2*time.Minute:
		return "no news for " + terminal.Duration(w.quiet.Seconds())
	}
	return "training"
}

// news are the last numbers of the run.
func (w *watched) news() []string {
	if len(w.metrics) == 0 {
		return nil
	}
	last := w.metrics[len(w.metrics)-1]
	var parts []string
	if last.Fraction > 0 {
		parts = append(parts, fmt.Sprintf("%.0f%%", 100*last.Fraction))
		if w.going && last.Fraction < 1 {
			parts = append(parts, terminal.ETA(last.Seconds*(1-last.Fraction)/last.Fraction))
		}
	}
	parts = append(parts, fmt.Sprintf("loss %.4f", last.Loss), fmt.Sprintf("lr %.2e", last.LR))
	if last.WordsPerSecond > 0 {
		parts = append(parts, terminal.Rate(last.WordsPerSecond)+" words/s")
	}
	return append(parts, terminal.Rate(last.PairsPerSecond)+" pairs/s", "after "+terminal.Duration(last.Seconds))
}
