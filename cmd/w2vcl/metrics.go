package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/w2vcl/w2vcl/cmd/internal/cli"
	"github.com/w2vcl/w2vcl/internal/atomicfile"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/train/runfolder"
)

type metricsOptions struct {
	format, out string
}

// Formats of metrics.
const (
	metricsCSV         = "csv"
	metricsJSON        = "json"
	metricsTensorBoard = "tensorboard"
)

func newMetrics(s cli.Streams) *cobra.Command {
	var o metricsOptions
	cmd := &cobra.Command{
		Use:        "metrics DIR [--format csv|json|tensorboard] [--out PATH]",
		Short:      "Show the metrics of a run as CSV or JSON, or write them for TensorBoard",
		SuggestFor: []string{"info", "log", "stats", "show"},
		Long: `Show the metrics of a run, also of one that is still training: loss, learning rate
and speed, the lines of DIR/metrics.jsonl, and the scores of 'w2vcl train --scores'.
TensorBoard's format is an event file in the folder --out:

  tensorboard --logdir FOLDER`,
		Example: `  w2vcl metrics runs/wiki > wiki.csv
  w2vcl metrics runs/wiki --format tensorboard --out boards/wiki`,
		Args: cli.Exactly("DIR"),
		RunE: func(_ *cobra.Command, args []string) error { return o.run(s, args[0]) },
	}
	flags := cmd.Flags()
	flags.StringVar(&o.format, "format", metricsCSV, "`NAME` is csv, json (one array) or tensorboard")
	cli.CompleteValues(cmd, "format", metricsCSV, metricsJSON, metricsTensorBoard)
	flags.StringVar(&o.out, "out", "",
		"`PATH` of the file to write, or of TensorBoard's folder (default: standard output)")
	flags.Bool("force", false, "replace --out if it is a file of metrics")
	return cmd
}

func (o *metricsOptions) run(s cli.Streams, dir string) error {
	var write func(io.Writer, []runfolder.Metric) error
	switch o.format {
	case metricsCSV:
		write = writeMetricsCSV
	case metricsJSON:
		write = func(w io.Writer, metrics []runfolder.Metric) error {
			return cli.WriteJSON(w, append([]runfolder.Metric{}, metrics...)) // [] without any, not null
		}
	case metricsTensorBoard:
		if o.out == "" {
			return terminal.Usagef("--out is missing: name the folder for TensorBoard's event file")
		}
	default:
		return terminal.Usagef("--format %s: choose csv, json or tensorboard", o.format)
	}
	run, err := runfolder.Open(dir)
	if err != nil {
		return err
	}
	metrics, err := run.Metrics()
	if err != nil {
		return err
	}
	if o.format == metricsTensorBoard {
		return o.writeEvents(s, run.Path(runfolder.MetricsFile), metrics)
	}
	if o.out == "" || o.out == "-" {
		return write(s.Out, metrics)
	}
	return atomicfile.Write(o.out, func(w io.Writer) error { return write(w, metrics) })
}

func writeMetricsCSV(w io.Writer, metrics []runfolder.Metric) error {
	rows := [][]string{{"unit", "seconds", "loss", "lr", "words_per_second", "pairs_per_second"}}
	names := scored(metrics)
	for _, name := range names {
		rows[0] = append(rows[0], "scores."+name)
	}
	for _, m := range metrics {
		row := []string{strconv.Itoa(m.Unit)}
		for _, x := range []float64{m.Seconds, m.Loss, m.LR, m.WordsPerSecond, m.PairsPerSecond} {
			row = append(row, strconv.FormatFloat(x, 'g', -1, 64))
		}
		for _, name := range names {
			score := ""
			if x, ok := m.Scores[name]; ok {
				score = strconv.FormatFloat(x, 'g', -1, 64)
			}
			row = append(row, score)
		}
		rows = append(rows, row)
	}
	return csv.NewWriter(w).WriteAll(rows)
}

// scored lists the data sets that have scores in the metrics.
func scored(metrics []runfolder.Metric) []string {
	names := map[string]bool{}
	for _, m := range metrics {
		for name := range m.Scores {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// writeEvents writes an event file. Its last step has the time of the metrics file,
// the others are before it by seconds of training. Its name is the same every time,
// so that TensorBoard shows the metrics once.
func (o *metricsOptions) writeEvents(s cli.Streams, path string, metrics []runfolder.Metric) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("cannot read metrics: %w", err)
	}
	seconds := 0.0
	if len(metrics) > 0 {
		seconds = metrics[len(metrics)-1].Seconds
	}
	start := info.ModTime().Add(-time.Duration(seconds * float64(time.Second)))
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return fmt.Errorf("cannot make --out: %w", err)
	}
	file := filepath.Join(o.out, "events.out.tfevents."+strconv.FormatInt(start.Unix(), 10)+".w2vcl")
	err = atomicfile.Write(file, func(w io.Writer) error {
		events, err := newEventWriter(w, start)
		for i := 0; err == nil && i < len(metrics); i++ {
			m := metrics[i]
			values := []scalar{
				{"loss", m.Loss}, {"lr", m.LR},
				{"words_per_second", m.WordsPerSecond}, {"pairs_per_second", m.PairsPerSecond},
			}
			for _, name := range slices.Sorted(maps.Keys(m.Scores)) {
				values = append(values, scalar{"scores/" + name, m.Scores[name]})
			}
			err = events.add(start.Add(time.Duration(m.Seconds*float64(time.Second))), int64(m.Unit), values)
		}
		return err
	})
	if err == nil {
		s.Notef("%s steps in %s", terminal.Number(len(metrics)), file)
	}
	return err
}
