package joint

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/train/cluster"
)

// This file reads a text that the ranks have together: each reads its part, and all get the vocabulary and the counts of the whole.

// A Part is a rank's part of a text. The parts, in the order of the ranks, are the text as
// corpus.Read reads it: its vocabulary, numbers and sentences.
type Part struct {
	*corpus.Corpus        // the tokens of the part; vocabulary and Stats of the whole text
	FirstToken     int    // number of the part's first token in the whole text
	Fingerprint    uint64 // of the whole text
}

// OfRank stands for the number of the rank in a path: then each rank has a text of its own, and
// all together, in the order of the ranks, are the text.
const OfRank = "{rank}"

// Read reads this rank's part of the text at path. All ranks call it, with the same options.
// An error of any rank is one of all, and names the rank.
func Read(ctx context.Context, c cluster.Comm, path string, o corpus.Options) (*Part, error) {
	local, err := readLocal(ctx, c, path, o)
	if err := cluster.Agree(c, err); err != nil {
		return nil, err
	}
	s := &Part{Corpus: local}
	if err := s.sumStats(c); err != nil {
		return nil, err
	}
	if s.Stats.Tokens == 0 {
		return nil, cluster.Agree(c, fmt.Errorf("corpus %s: %w", path, corpus.ErrEmpty))
	}
	if o.Vocabulary == nil {
		err = s.merge(c, path, o)
	} else {
		err = s.number(o.Vocabulary, o.MaxSentence)
	}
	if err := cluster.Agree(c, err); err != nil {
		return nil, err
	}
	return s, s.place(c)
}

// readLocal reads the words of the part, all of them.
func readLocal(ctx context.Context, c cluster.Comm, path string, o corpus.Options) (*corpus.Corpus, error) {
	if o.JoinLines {
		return nil, errors.New("several ranks cannot share a text whose lines are joined: leave out --join-lines, or use one rank")
	}
	o.MinCount, o.MaxWords, o.MaxSentence, o.Vocabulary = 1, 0, math.MaxInt32, nil
	part, parts := c.Rank(), c.Size()
	if strings.Contains(path, OfRank) {
		path, part, parts = strings.ReplaceAll(path, OfRank, strconv.Itoa(part)), 0, 1
	}
	return corpus.ReadPart(ctx, path, part, parts, o)
}

// sumStats adds up the statistics of the parts. Types, sentences and tokens used follow.
func (s *Part) sumStats(c cluster.Comm) error {
	fields := []*int64{&s.Stats.Bytes, &s.Stats.Lines, &s.Stats.Tokens, &s.Stats.InvalidUTF8, &s.Stats.LongTokens, &s.Stats.Punctuated, &s.Stats.Capitalized, &s.Stats.Files}
	return reduce(c, fields...)
}

// reduce replaces numbers by their sums over the ranks.
func reduce(c cluster.Comm, fields ...*int64) error {
	numbers := make([]uint64, len(fields))
	for i, f := range fields {
		numbers[i] = uint64(*f)
	}
	err := cluster.Sum(c, numbers)
	for i, f := range fields {
		*f = int64(numbers[i])
	}
	return err
}

// A counted word is one with its count in the whole text.
type counted struct {
	word  string
	count uint64
}

// merge makes the vocabulary of the whole text. Each word has a rank, by its hash, that adds
// up its counts; all ranks get the frequent ones.
func (s *Part) merge(c cluster.Comm, path string, o corpus.Options) error {
	parts := make([][]byte, c.Size())
	for id, word := range s.Vocabulary.Words {
		rank := xxhash.Sum64String(word) % uint64(c.Size())
		parts[rank] = appendWord(parts[rank], word, s.Vocabulary.Counts[id])
	}
	got, err := cluster.Exchange(c, parts)
	if err != nil {
		return err
	}
	counts := map[string]uint64{}
	for _, list := range got {
		eachWord(list, func(word []byte, count uint64) { counts[string(word)] += count })
	}
	var kept []byte
	for word, count := range counts {
		if count >= uint64(max(o.MinCount, 1)) {
			kept = appendWord(kept, word, count)
		}
	}
	s.Stats.Types = int64(len(counts))
	if err := reduce(c, &s.Stats.Types); err != nil {
		return err
	}
	if got, err = cluster.Collect(c, kept); err != nil {
		return err
	}
	var words []counted
	for _, list := range got {
		eachWord(list, func(word []byte, count uint64) { words = append(words, counted{string(word), count}) })
	}
	if len(words) == 0 {
		return fmt.Errorf("corpus %s: %w: none occurs %d times, the minimum count", path, corpus.ErrMinCount, o.MinCount)
	}
	slices.SortFunc(words, func(a, b counted) int {
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.word, b.word))
	})
	if o.MaxWords > 0 {
		words = words[:min(len(words), o.MaxWords)]
	}
	v := &corpus.Vocabulary{}
	for _, w := range words {
		v.Words, v.Counts = append(v.Words, w.word), append(v.Counts, w.count)
	}
	return s.number(v, o.MaxSentence)
}

func appendWord(list []byte, word string, count uint64) []byte {
	list = binary.AppendUvarint(list, count)
	list = binary.AppendUvarint(list, uint64(len(word)))
	return append(list, word...)
}

func eachWord(list []byte, each func(word []byte, count uint64)) {
	for len(list) > 0 {
		count, n := binary.Uvarint(list)
		length, k := binary.Uvarint(list[n:])
		list = list[n+k:]
		each(list[:length], count)
		list = list[length:]
	}
}

// number gives the tokens the ids of the vocabulary and leaves out those that it lacks. It
// cuts lines of more than maxSentence tokens that are left into sentences, as corpus.Read does.
func (s *Part) number(v *corpus.Vocabulary, maxSentence int) error {
	const none = math.MaxUint32
	maxSentence = cmp.Or(maxSentence, corpus.DefaultMaxSentence)
	ids := make([]uint32, s.Vocabulary.Len())
	index := make(map[string]uint32, v.Len())
	for id, word := range v.Words {
		index[word] = uint32(id)
	}
	for local, word := range s.Vocabulary.Words {
		id, ok := index[word]
		if !ok {
			id = none
		}
		ids[local] = id
	}
	s.Vocabulary = v
	tokens, sentences := s.Tokens[:0], []int{0}
	for line := range len(s.Sentences) - 1 {
		last := len(tokens)
		for _, local := range s.Tokens[s.Sentences[line]:s.Sentences[line+1]] {
			if id := ids[local]; id != none {
				tokens = append(tokens, id)
			}
		}
		if len(tokens)-last > maxSentence {
			s.Stats.CutSentences++
		}
		for last < len(tokens) {
			last = min(last+maxSentence, len(tokens))
			var err error
			if sentences, err = memory.Append(sentences, last); err != nil {
				return err
			}
		}
	}
	s.Tokens, s.Sentences = slices.Clip(tokens), sentences
	s.Stats.TokensUsed, s.Stats.Sentences = int64(len(tokens)), int64(len(sentences)-1)
	return nil
}

// place finds the place of the part in the text, and the fingerprint of that.
func (s *Part) place(c cluster.Comm) error {
	if err := s.findFirst(c); err != nil {
		return err
	}
	if err := reduce(c, &s.Stats.TokensUsed, &s.Stats.Sentences, &s.Stats.CutSentences); err != nil {
		return err
	}
	if s.Stats.TokensUsed == 0 {
		return cluster.Agree(c, fmt.Errorf("corpus: %w: none is in the given vocabulary of %d words", corpus.ErrMinCount, s.Vocabulary.Len()))
	}
	// The fingerprint goes through the text from its first token to its last: so from rank to rank.
	f := corpus.NewFingerprinter(s.Vocabulary, int(s.Stats.TokensUsed), int(s.Stats.Sentences))
	for step := range 2 {
		for rank := range c.Size() {
			if rank == c.Rank() && step == 0 {
				f.AddTokens(s.Text())
			} else if rank == c.Rank() {
				f.AddStarts(s.Text(), s.FirstToken, rank == c.Size()-1)
			}
			state := f.State()
			if err := cluster.Bcast(c, state, rank); err != nil {
				return err
			}
			if err := f.GoOn(bytes.Clone(state)); err != nil {
				return err
			}
		}
	}
	s.Fingerprint = f.Sum()
	return nil
}
