package statistics

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/internal/parallel"
)

// Pairs are the most frequent pairs of words that are at most Window words apart in a
// sentence, in either order.
type Pairs struct {
	Window int    `json:"window"`
	Exact  bool   `json:"exact"` // no pair that is not listed is more frequent than one that is
	Top    []Pair `json:"top"`
}

// A Pair is two words; the more frequent one is First.
type Pair struct {
	First  string `json:"first"`
	Second string `json:"second"`
	Count  uint64 `json:"count"`
}

// pairWords are the most frequent words, whose pairs are counted.
const pairWords = 2048

// pairs counts the pairs of the most frequent words. Another pair has a rarer word, and
// occurs at most 2·Window times as often as that.
func pairs(ctx context.Context, c *corpus.Corpus, o Options, p *progress) (Pairs, error) {
	text, n := c.Text(), min(pairWords, c.Vocabulary.Len())
	counts := make([]uint64, n*n)
	var adding sync.Mutex
	err := overSentences(ctx, text, o.Threads, p, func() (visit func(sentence int, ids []uint32), done func()) {
		own := make([]uint32, n*n)
		return func(_ int, ids []uint32) {
				for i, a := range ids {
					if int(a) >= n {
						continue
					}
					for _, b := range ids[i+1 : min(i+1+o.Window, len(ids))] {
						if int(b) < n {
							own[int(min(a, b))*n+int(max(a, b))]++
						}
					}
				}
			}, func() {
				adding.Lock()
				defer adding.Unlock()
				for i, k := range own {
					counts[i] += uint64(k)
				}
			}
	})
	if err != nil {
		return Pairs{}, err
	}
	all := Pairs{Window: o.Window, Exact: true}
	var order []int
	for i, k := range counts {
		if k > 0 {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), a-b) })
	for _, i := range order[:min(o.Top, len(order))] {
		all.Top = append(all.Top, Pair{c.Vocabulary.Words[i/n], c.Vocabulary.Words[i%n], counts[i]})
	}
	if n < c.Vocabulary.Len() {
		most := 2 * uint64(o.Window) * c.Vocabulary.Counts[n]
		all.Exact = len(all.Top) == o.Top && (o.Top == 0 || all.Top[o.Top-1].Count >= most)
	}
	return all, nil
}

// Duplicates are sentences that occur before in the text, word for word.
type Duplicates struct {
	Fraction  float64    `json:"share"`       // of the sentences that are copies of an earlier one
	Tokens    float64    `json:"token_share"` // of the tokens in them
	Sampled   bool       `json:"sampled"`     // one of some different sentences was compared, for lack of memory
	Most      []Repeated `json:"most"`
	sentences int        // that were compared
}

// A Repeated sentence occurs Count times.
type Repeated struct {
	Sentence string `json:"sentence"` // its first words
	Count    int    `json:"count"`
}

// shownWords of a repeated sentence are shown.
const shownWords = 12

// A hashed sentence.
type hashed struct {
	hash     uint64
	sentence uint32 // of the text, modulo 2^32
	length   uint32
}

// duplicates compares sentences by their hash values of 64 bits. If memory is short, it looks
// at those alone whose hash value is a multiple of a number.
func duplicates(ctx context.Context, c *corpus.Corpus, o Options, p *progress) (Duplicates, error) {
	text := c.Text()
	const perSentence = 16 * 2 // and as many to append
	step := uint64(1 + int64(text.Sentences())*perSentence/o.Memory)
	all, err := hashSentences(ctx, text, o, step, p)
	if err != nil {
		return Duplicates{}, err
	}
	d := Duplicates{Sampled: step > 1, sentences: len(all)}
	for _, r := range d.count(all, o.Top) {
		d.Most = append(d.Most, Repeated{firstWords(c, r.sentence), r.count})
	}
	return d, nil
}

// hashSentences returns, sorted, the sentences whose hash value is a multiple of step.
func hashSentences(ctx context.Context, text *corpus.Text, o Options, step uint64, p *progress) (all []hashed, err error) {
	var adding sync.Mutex
	err = overSentences(ctx, text, o.Threads, p, func() (visit func(sentence int, ids []uint32), done func()) {
		var own []hashed
		var bytes []byte
		return func(sentence int, ids []uint32) {
				bytes = bytes[:0]
				for _, id := range ids {
					bytes = binary.LittleEndian.AppendUint32(bytes, id)
				}
				if h := xxhash.Sum64(bytes); h%step == 0 {
					own = append(own, hashed{h, uint32(sentence), uint32(len(ids))})
				}
			}, func() {
				adding.Lock()
				defer adding.Unlock()
				all = append(all, own...)
			}
	})
	slices.SortFunc(all, func(a, b hashed) int {
		return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.sentence, b.sentence))
	})
	return all, err
}

// A repetition is the first of some equal sentences, and their number.
type repetition struct{ sentence, count int }

// count sets the shares of copies among sorted sentences. It returns the sentences that occur
// most often.
func (d *Duplicates) count(all []hashed, top int) (repeated []repetition) {
	copies, tokens, copied := 0, 0, 0
	for i := 0; i < len(all); {
		n := i + 1
		for n < len(all) && all[n].hash == all[i].hash {
			n++
		}
		tokens += (n - i) * int(all[i].length)
		copies, copied = copies+n-i-1, copied+(n-i-1)*int(all[i].length)
		if n-i > 1 {
			repeated = append(repeated, repetition{int(all[i].sentence), n - i})
		}
		i = n
	}
	d.Fraction, d.Tokens = float64(copies)/float64(max(len(all), 1)), float64(copied)/float64(max(tokens, 1))
	slices.SortFunc(repeated, func(a, b repetition) int { return cmp.Or(b.count-a.count, a.sentence-b.sentence) })
	return repeated[:min(top, len(repeated))]
}

// firstWords returns the words of a sentence that are shown.
func firstWords(c *corpus.Corpus, sentence int) string {
	text := c.Text()
	var words []string
	var buffer []uint32
	first, end := text.Start(sentence), text.Start(sentence+1)
	for _, id := range text.View(first, min(end, first+shownWords), &buffer) {
		words = append(words, c.Vocabulary.Words[id])
	}
	if end-first > shownWords {
		words = append(words, "…")
	}
	return strings.Join(words, " ")
}

// overSentences visits all sentences, stretches of them on several threads. begin is called
// for each stretch, done at its end.
func overSentences(ctx context.Context, text *corpus.Text, threads int, p *progress, begin func() (visit func(sentence int, ids []uint32), done func())) error {
	n := text.Sentences()
	return parallel.Try(ctx, threads, threads, func(_, k int) error {
		visit, done := begin()
		var buffer []uint32
		w := text.Window()
		for s := n * k / threads; s < n*(k+1)/threads; s++ {
			first, end := text.Start(s), text.Start(s+1)
			visit(s, text.View(first, end, &buffer))
			w.Sentences(s, s+1)
			if err := p.add(ctx, end-first); err != nil {
				return err
			}
		}
		w.Close()
		done()
		return nil
	})
}

// A progress reports how many tokens were visited.
type progress struct {
	report func(done, total int64)
	total  int64

	done  atomic.Int64
	shown sync.Mutex
}

// shownTokens are visited between two reports.
const shownTokens = 1 << 18

// add counts tokens. It reports now and then, and then tells whether ctx is done.
func (p *progress) add(ctx context.Context, tokens int) error {
	done := p.done.Add(int64(tokens))
	if done/shownTokens == (done-int64(tokens))/shownTokens {
		return nil
	}
	if p.report != nil {
		p.shown.Lock()
		p.report(p.done.Load(), p.total)
		p.shown.Unlock()
	}
	return ctx.Err()
}
