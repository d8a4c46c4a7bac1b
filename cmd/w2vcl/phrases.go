package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/w2vcl/w2vcl/cmd/internal/cli"
	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/corpus/phrases"
	"github.com/w2vcl/w2vcl/internal/atomicfile"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/train/progress"
)

type phrasesOptions struct {
	out, save, apply string
	tokenizer        string
	passes           int
	quiet            bool
	learn            phrases.Options
	read             corpus.Options
}

func newPhrases(s cli.Streams) *cobra.Command {
	o := phrasesOptions{}
	cmd := &cobra.Command{
		Use:        "phrases TEXT --out FILE [flags]",
		Short:      "Join each phrase of a text (New York) into one word, before training",
		SuggestFor: []string{"word2phrase", "phraser"},
		Long: `Find pairs of words that stand together more often than by chance and write the
text with such pairs joined to one word, new_york. TEXT is a file or folder;
the output has a line for each of its lines. Every pass joins once more, so two
passes find phrases of up to four words. Each pass reads the text again; memory holds
the counts of words and pairs, of 40 million at most: then rare ones are dropped.

--save keeps the phrases, a table to look at and to edit; --apply joins them in
other texts, also on standard input. The score of a pair ab is that of word2phrase:
(count(ab) - min-count) / (count(a) count(b)) times the words of the text. It grows
with the text.`,
		Example: `  w2vcl phrases wiki.txt --lowercase --tokenizer words --out wiki-phrases.txt --save phrases.tsv
  w2vcl train --corpus wiki-phrases.txt --out runs/phrases
  w2vcl phrases news.txt.gz --apply phrases.tsv --lowercase --tokenizer words --out - | head
  w2vcl phrases wiki.txt --threshold 200 --passes 2 --out out.txt`,
		Args: cli.Exactly("TEXT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, name := range []string{"threshold", "min-count", "passes", "save"} {
				if o.apply != "" && cmd.Flags().Changed(name) {
					return terminal.Usagef("--%s does not go with --apply, which finds no phrases", name)
				}
			}
			return o.run(cmd.Context(), s, args[0])
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.out, "out", "", "write the text with its phrases joined to `FILE`; - is standard output")
	flags.StringVar(&o.save, "save", "", "write the phrases to `FILE`, a table")
	flags.StringVar(&o.apply, "apply", "", "join the phrases of `FILE`, which --save wrote, instead of finding phrases")
	flags.Float64Var(&o.learn.Threshold, "threshold", 100, "pairs with a score above `X` are phrases")
	flags.IntVar(&o.learn.MinCount, "min-count", 5, "pairs must occur more than `N` times; the scores take N off")
	flags.IntVar(&o.passes, "passes", 1, "join `N` times, each time on the text as joined so far")
	flags.StringVar(&o.tokenizer, "tokenizer", "whitespace",
		"how a line is split: `NAME` is whitespace or words, as in 'w2vcl train'")
	flags.BoolVar(&o.read.Lowercase, "lowercase", false, "lower-case the text")
	flags.IntVar(&o.read.MaxSentence, "max-sentence", 1000, "no phrase crosses the end of a line, or of `N` words")
	flags.Bool("force", false, "replace an existing text or list of phrases")
	flags.BoolVar(&o.quiet, "quiet", false, "print no progress")
	cli.UseAliases(flags, map[string]string{"minCount": "min-count", "delta": "min-count"})
	return cmd
}

// check completes the options, or says what is wrong with them.
func (o *phrasesOptions) check() error {
	if err := o.read.Tokenizer.UnmarshalText([]byte(o.tokenizer)); err != nil {
		return terminal.Usagef("--tokenizer %s: choose whitespace or words", o.tokenizer)
	}
	switch {
	case o.out == "" && o.save == "":
		return terminal.Usagef("--out is missing: name the file to write the text to, " +
			"or - for standard output (or --save the phrases alone)")
	case o.out == "" && o.apply != "":
		return terminal.Usagef("--out is missing: name the file to write the text to, or - for standard output")
	case o.out == o.save && o.out != "":
		return terminal.Usagef("--out and --save name the same file")
	case o.learn.MinCount < 1:
		return terminal.Usagef("--min-count %d: must be 1 or more", o.learn.MinCount)
	case !(o.learn.Threshold >= 0 && o.learn.Threshold <= 1e12):
		return terminal.Usagef("--threshold %g: must be from 0 to 1e12", o.learn.Threshold)
	case o.passes < 1 || o.passes > 20:
		return terminal.Usagef("--passes %d: must be from 1 to 20", o.passes)
	case o.read.MaxSentence < 2:
		return terminal.Usagef("--max-sentence %d: must be 2 or more", o.read.MaxSentence)
	}
	return nil
}

func (o *phrasesOptions) run(ctx context.Context, s cli.Streams, text string) error {
	if err := o.check(); err != nil {
		return err
	}
	p := s.Progress(o.quiet)
	list, err := o.list(ctx, s, p, text)
	if err != nil {
		return err
	}
	var files []atomicfile.File
	if o.save != "" {
		files = append(files, atomicfile.File{Path: o.save, Write: list.Write})
	}
	if o.out != "" {
		files = append(files, atomicfile.File{Path: o.out, Write: func(w io.Writer) error { return o.join(ctx, s, p, text, list, w) }})
	}
	if err := atomicfile.WriteAll(files...); err != nil {
		return err
	}
	if o.save != "" {
		p.Notef("Phrases: written to %s", o.save)
	}
	return nil
}

// list reads the phrases to join, or finds them.
func (o *phrasesOptions) list(ctx context.Context, s cli.Streams, p *progress.Progress, text string) (phrases.List, error) {
	if o.apply != "" {
		f, err := os.Open(o.apply)
		if err != nil {
			return nil, fmt.Errorf("--apply: %w", err)
		}
		defer f.Close()
		list, err := phrases.Read(f)
		if err != nil {
			return nil, fmt.Errorf("--apply %s: %w", o.apply, err)
		}
		return list, nil
	}
	var list phrases.List
	for pass := range o.passes {
		found, err := o.find(ctx, s, p, text, list, pass+1)
		if err != nil {
			return list, err
		}
		list = append(list, found)
	}
	return list, nil
}

// find finds the phrases of one pass, on the text with those of list joined.
func (o *phrasesOptions) find(ctx context.Context, s cli.Streams, p *progress.Progress, text string, list phrases.List, pass int) (phrases.Pass, error) {
	start := time.Now()
	learner, err := phrases.NewLearner(o.learn)
	if err != nil {
		return phrases.Pass{}, err
	}
	joiner := phrases.NewJoiner(list)
	stats, err := o.readText(ctx, s, p, fmt.Sprintf("Counting, pass %d", pass), text, func(tokens []string, _ bool) error {
		learner.Add(joiner.Join(tokens))
		return nil
	})
	if err != nil {
		return phrases.Pass{}, err
	}
	if stats.Tokens == 0 {
		return phrases.Pass{}, fmt.Errorf("%s: %w", text, corpus.ErrEmpty)
	}
	found := learner.Pass()
	if learner.Reduced() {
		s.Notef("Note: there are more than %s words and pairs: "+
			"rare ones were dropped on the way, so some phrases may be missing",
			terminal.Number(phrases.MaxEntries))
	}
	p.Notef("Pass %d:  %s of score above %g in %s words, %s", pass, terminal.Quantity(terminal.Number(len(found.Phrases)), "phrase"),
		o.learn.Threshold, terminal.Number(int(stats.Tokens)), terminal.Duration(time.Since(start).Seconds()))
	return found, nil
}

func (o *phrasesOptions) join(ctx context.Context, s cli.Streams, p *progress.Progress, text string, list phrases.List, w io.Writer) error {
	joiner, begun, joined := phrases.NewJoiner(list), false, int64(0)
	var line []byte
	stats, err := o.readText(ctx, s, p, "Writing", text, func(tokens []string, end bool) error {
		after := joiner.Join(tokens)
		joined += int64(len(tokens) - len(after))
		line = line[:0]
		for _, token := range after {
			if begun {
				line = append(line, ' ')
			}
			line, begun = append(line, token...), true
		}
		if end {
			line, begun = append(line, '\n'), false
		}
		_, err := w.Write(line)
		return err
	})
	if err != nil {
		return err
	}
	to := o.out
	if to == "-" {
		to = "standard output"
	}
	p.Notef("Text:    %s words, written to %s as %s",
		terminal.Number(int(stats.Tokens)), to, terminal.Number(int(stats.Tokens-stats.LongTokens-joined)))
	return nil
}

func (o *phrasesOptions) readText(ctx context.Context, s cli.Streams, p *progress.Progress, name, text string, each func([]string, bool) error) (corpus.Stats, error) {
	stage := p.Stage(name, corpus.Size(text))
	defer stage.Stop()
	read := o.read
	read.Progress = func(done, _ int64) { stage.Update(done, nil) }
	if text == "-" {
		return corpus.ReadLinesFrom(ctx, s.In, "standard input", read, each)
	}
	return corpus.ReadLines(ctx, text, read, each)
}
