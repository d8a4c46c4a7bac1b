package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/w2vcl/w2vcl/cmd/internal/cli"
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/internal/textfile"
	"github.com/w2vcl/w2vcl/train/runfolder"
)

// questions are the words that a command is asked about: its arguments behind the vectors, or
// the lines of a file.
type questions struct {
	file  string   // of --words; "" for arguments
	names []string // of the words of a question
}

// addTo adds --words, and a check that there are arguments if and only if it is not given.
func (q *questions) addTo(cmd *cobra.Command, args cobra.PositionalArgs) {
	line := "one a line"
	if len(q.names) > 1 {
		line = cli.Enumerate(q.names) + " a line, separated by spaces or tabs"
	}
	cmd.Flags().StringVar(&q.file, "words", "", "ask about the words in `FILE`, "+line+" (- is standard input)")
	cmd.Args = func(cmd *cobra.Command, given []string) error {
		if q.file != "" {
			return cli.Exactly("DIR|VECTORS")(cmd, given)
		}
		return args(cmd, given)
	}
}

// read returns the questions, each with its words.
func (q *questions) read(ctx context.Context, s cli.Streams, args []string) ([][]string, error) {
	if q.file == "" {
		return [][]string{args}, nil
	}
	var found [][]string
	err := eachLine(ctx, s, q.file, func(number int, line string) error {
		words := strings.Fields(line)
		if len(words) > 0 && len(words) != len(q.names) {
			return fmt.Errorf("line %d: it has %s, but a question has %s", number,
				terminal.Quantity(terminal.Number(len(words)), "word"), cli.Enumerate(q.names))
		}
		if len(words) > 0 {
			found = append(found, words)
		}
		return nil
	})
	if err == nil && len(found) == 0 {
		err = errEmptyList
	}
	if err != nil {
		return nil, fmt.Errorf("--words %s: %w", q.file, err)
	}
	return found, nil
}

var errEmptyList = errors.New("the list is empty")

// eachLine calls take with the number and the text of each line of a list; - is standard input.
func eachLine(ctx context.Context, s cli.Streams, path string, take func(number int, line string) error) error {
	in := s.In
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		in = f
	}
	lines := textfile.NewLines(memory.NewReader(ctx, in))
	for lines.Next() {
		if err := take(lines.Number, lines.Text()); err != nil {
			return err
		}
	}
	return lines.Err()
}

// ask reads the questions, the vectors at a path, and of these the vectors of the questions' words.
func (q *questions) ask(ctx context.Context, s cli.Streams, path string, args []string) (
	asked [][]string, t *runfolder.Vectors, found []runfolder.WordVector, err error,
) {
	if asked, err = q.read(ctx, s, args); err != nil {
		return nil, nil, nil, err
	}
	if t, err = runfolder.LoadVectors(ctx, path); err != nil {
		return nil, nil, nil, err
	}
	noteUnfinished(s, path)
	if found, err = t.Lookup(slices.Concat(asked...)); err != nil || q.names == nil {
		return asked, t, found, err
	}
	for _, w := range found {
		if !slices.ContainsFunc(w.Vector, func(x float32) bool { return x != 0 }) {
			return nil, nil, nil, fmt.Errorf("%s: the vector of %q is zero, so it has no direction to compare", path, w.Word)
		}
	}
	return asked, t, found, nil
}

// answer is what --json prints: an object for one question, an array for those of a file.
func answer[T any](q *questions, answers []T) any {
	if q.file == "" {
		return answers[0]
	}
	return answers
}
