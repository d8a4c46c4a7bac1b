package main

import (
	"context"
	"math"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/w2vcl/w2vcl/cmd/internal/cli"
	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/evaluate"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/kernels/simd"
	"github.com/w2vcl/w2vcl/train/runfolder"
)

type neighborsOptions struct {
	count     int
	json      bool
	questions questions
}

// A wordNeighbors is an element of the array that neighbors --json prints.
type wordNeighbors struct {
	askedWord
	Neighbors []embedding.Neighbor `json:"neighbors"`
}

func newNeighbors(s cli.Streams) *cobra.Command {
	o := neighborsOptions{questions: questions{names: []string{"WORD"}}}
	cmd := &cobra.Command{
		Use:        "neighbors DIR|VECTORS WORD... [flags]",
		Short:      "Show the words nearest to a word",
		SuggestFor: []string{"nn", "nearest", "most-similar", "similar", "distance"},
		Long: `Show the words whose vectors have the largest cosine with the vector of a word, in
a run folder or a file of vectors. A run that is still training answers with the
vectors of its last checkpoint. A run trained with --subword, and a fastText model,
also answer for words that are not in their text. The answer says what the vector of such
a word comes from.`,
		Example: `  w2vcl neighbors runs/wiki economy river
  w2vcl neighbors glove.6B.100d.txt paris --count 20
  w2vcl neighbors runs/wiki --words words.txt --json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), s, args[0], args[1:])
		},
	}
	countFlag(cmd, &o.count, 10, "show `N` neighbours of each word")
	o.questions.addTo(cmd, cli.WordsOf("DIR|VECTORS"))
	cli.AddJSON(cmd, &o.json, "print one line of JSON: an array of words with their neighbours")
	return cmd
}

// countFlag adds --count, which gensim calls topn.
func countFlag(cmd *cobra.Command, target *int, usual int, help string) {
	cmd.Flags().IntVarP(target, "count", "n", usual, help)
	cli.UseAliases(cmd.Flags(), map[string]string{"topn": "count", "top": "count", "k": "count"})
}

func (o *neighborsOptions) run(ctx context.Context, s cli.Streams, path string, words []string) error {
	if o.count < 1 {
		return terminal.Usagef("--count %d: must be at least 1", o.count)
	}
	_, t, found, err := o.questions.ask(ctx, s, path, words)
	if err != nil {
		return err
	}
	answers, err := neighbors(ctx, t, found, o.count)
	if err != nil {
		return err
	}
	if o.json {
		return cli.WriteJSON(s.Out, answers)
	}
	var out cli.Table
	for i, w := range answers {
		if i > 0 {
			out.Rowf("")
		}
		out.Rowf("%s%s", w.Word, notInText(w.Origin))
		for _, n := range w.Neighbors {
			out.Rowf("  %s\t%6.3f", n.Word, n.Cosine)
		}
	}
	return out.Print(s.Out)
}

func neighbors(ctx context.Context, t *runfolder.Vectors, found []runfolder.WordVector, count int) ([]wordNeighbors, error) {
	vectors, exclude := make([][]float32, len(found)), make([][]int, len(found))
	for i, w := range found {
		vectors[i], exclude[i] = w.Vector, []int{w.Row}
	}
	nearest, err := t.Nearest(ctx, vectors, count, exclude...)
	if err != nil {
		return nil, err
	}
	answers := make([]wordNeighbors, len(found))
	for i, w := range found {
		answers[i] = wordNeighbors{askedWord{w.Word, w.Origin}, nearest[i]}
	}
	return answers, nil
}

// A similarityAnswer is the object that similarity --json prints.
type similarityAnswer struct {
	A      string      `json:"a"`
	B      string      `json:"b"`
	Cosine float32     `json:"cosine"`
	Unseen []askedWord `json:"unseen,omitempty"`
}

func newSimilarity(s cli.Streams) *cobra.Command {
	asJSON, q := false, questions{names: []string{"A", "B"}}
	cmd := &cobra.Command{
		Use:        "similarity DIR|VECTORS A B [flags]",
		Short:      "Show how similar two words are",
		SuggestFor: []string{"sim", "cosine"},
		Long: `Show the cosine of the vectors of two words, seen or not. 1 means the same direction,
0 means unrelated. With --words, show the cosines of many pairs.`,
		Example: `  w2vcl similarity runs/wiki coast shore
  cut -f 1,2 pairs.tsv | w2vcl similarity runs/wiki --words -`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return similarity(cmd.Context(), s, args[0], args[1:], &q, asJSON)
		},
	}
	q.addTo(cmd, cli.Exactly("DIR|VECTORS", "A", "B"))
	cli.AddJSON(cmd, &asJSON, "print one line of JSON: the words and their cosine; with --words an array")
	return cmd
}

func similarity(ctx context.Context, s cli.Streams, path string, args []string, q *questions, asJSON bool) error {
	pairs, _, found, err := q.ask(ctx, s, path, args)
	if err != nil {
		return err
	}
	answers := make([]similarityAnswer, len(pairs))
	var out cli.Table
	for i, pair := range pairs {
		cosine := float32(evaluate.Cosine(found[2*i].Vector, found[2*i+1].Vector))
		answers[i] = similarityAnswer{pair[0], pair[1], cosine, unseen(found[2*i : 2*i+2])}
		out.Rowf("%s\t%s\t%6.3f", pair[0], pair[1], cosine)
	}
	if asJSON {
		return cli.WriteJSON(s.Out, answer(q, answers))
	}
	noteUnseen(s, found)
	return out.Print(s.Out)
}

type analogyOptions struct {
	count     int
	json      bool
	questions questions
}

// An analogyAnswer is the object that analogy --json prints.
type analogyAnswer struct {
	A       string               `json:"a"`
	B       string               `json:"b"`
	C       string               `json:"c"`
	Answers []embedding.Neighbor `json:"answers"`
	Unseen  []askedWord          `json:"unseen,omitempty"`
}

func newAnalogy(s cli.Streams) *cobra.Command {
	o := analogyOptions{questions: questions{names: []string{"A", "B", "C"}}}
	cmd := &cobra.Command{
		Use:        "analogy DIR|VECTORS A B C [flags]",
		Short:      "Answer \"A is to B as C is to ...\"",
		SuggestFor: []string{"analogies", "word-analogy"},
		Long: `Answer "A is to B as C is to ..." with the words nearest to B - A + C (3CosAdd).
A, B and C do not count as answers.`,
		Example: `  w2vcl analogy runs/wiki man king woman
  w2vcl analogy runs/wiki paris france rome --count 3
  w2vcl analogy runs/wiki --words questions.txt`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), s, args[0], args[1:])
		},
	}
	countFlag(cmd, &o.count, 5, "show `N` answers")
	o.questions.addTo(cmd, cli.Exactly("DIR|VECTORS", "A", "B", "C"))
	cli.AddJSON(cmd, &o.json, "print one line of JSON: the question and its answers; with --words an array")
	return cmd
}

func (o *analogyOptions) run(ctx context.Context, s cli.Streams, path string, words []string) error {
	if o.count < 1 {
		return terminal.Usagef("--count %d: must be at least 1", o.count)
	}
	asked, t, found, err := o.questions.ask(ctx, s, path, words)
	if err != nil {
		return err
	}
	queries, rows := make([][]float32, len(asked)), make([][]int, len(asked))
	for i := range asked {
		queries[i], rows[i] = offset(found[3*i : 3*i+3])
	}
	nearest, err := t.Nearest(ctx, queries, o.count, rows...)
	if err != nil {
		return err
	}
	answers := make([]analogyAnswer, len(asked))
	var out cli.Table
	for i, q := range asked {
		answers[i] = analogyAnswer{q[0], q[1], q[2], nearest[i], unseen(found[3*i : 3*i+3])}
		if i > 0 {
			out.Rowf("")
		}
		out.Rowf("%s is to %s as %s is to", q[0], q[1], q[2])
		for _, n := range nearest[i] {
			out.Rowf("  %s\t%6.3f", n.Word, n.Cosine)
		}
	}
	if o.json {
		return cli.WriteJSON(s.Out, answer(&o.questions, answers))
	}
	noteUnseen(s, found)
	return out.Print(s.Out)
}

// offset returns b - a + c of the unit vectors of three words, the cosine with which orders words
// as 3CosAdd does, and their rows.
func offset(words []runfolder.WordVector) (query []float32, rows []int) {
	query, rows = make([]float32, len(words[0].Vector)), make([]int, len(words))
	for i, sign := range []float32{-1, 1, 1} {
		v := words[i].Vector
		rows[i] = words[i].Row
		scale := sign / max(float32(math.Sqrt(float64(simd.Dot(v, v)))), math.SmallestNonzeroFloat32)
		for k, x := range v {
			query[k] += scale * x
		}
	}
	return query, rows
}

// A wordVector is an element of the array that vector --json prints.
type wordVector struct {
	askedWord
	Vector []float32 `json:"vector"`
}

func newVector(s cli.Streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:        "vector DIR|VECTORS WORD... [flags]",
		Short:      "Print the vectors of words, seen or not",
		SuggestFor: []string{"embed", "print-word-vectors", "get-vector"},
		Long: `Print the vectors of words, a line each: the word and its values. A run trained
with --subword, and a fastText model, compose the vectors of words that are not in
their text. Standard error says what such a vector comes from. 'w2vcl convert --words'
writes the vectors of a whole list of words to a file.`,
		Example: `  w2vcl vector runs/wiki economy
  w2vcl vector runs/wiki unlearnable misspeled --json`,
		Args: cli.WordsOf("DIR|VECTORS"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return printVectors(cmd.Context(), s, args[0], args[1:], asJSON)
		},
	}
	cli.AddJSON(cmd, &asJSON, "print one line of JSON: an array of words with their vectors")
	return cmd
}

func printVectors(ctx context.Context, s cli.Streams, path string, words []string, asJSON bool) error {
	_, _, found, err := new(questions).ask(ctx, s, path, words)
	if err != nil {
		return err
	}
	if asJSON {
		lines := make([]wordVector, len(found))
		for i, w := range found {
			lines[i] = wordVector{askedWord{w.Word, w.Origin}, w.Vector}
		}
		return cli.WriteJSON(s.Out, lines)
	}
	noteUnseen(s, found)
	for _, w := range found {
		line := []byte(terminal.Visible(w.Word))
		for _, x := range w.Vector {
			line = strconv.AppendFloat(append(line, ' '), float64(x), 'g', -1, 32)
		}
		if _, err := s.Out.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return nil
}
