package sentence

import (
	"fmt"
	"sort"
)

// This file says how several devices share a text, whatever they are: each trains on a part of it, from tables of its own,
// which are combined now and then.

// Sync is how devices combine their tables, with the rules of package sequential/combine.
type Sync struct {
	Rule     string
	Number   int // of the rule: sequential.Rule.Number
	Words    int // of the text, of all devices together, from one combination of all rows to the next, at least 1
	HotWords int // the same for the Hot most frequent words alone; 0: none in between
	Hot      int
}

// HasBases reports whether the rule needs the rows as they were combined last. The mean of some rows follows from these.
func (s Sync) HasBases() bool { return s.Rule != "mean" }

// MaxDevices is how many devices train together at most.
const MaxDevices = 8

// CombinedAfter returns how many of the most frequent words have their rows combined when unit u of all epochs is trained;
// 0 for none. At the end of an epoch all are.
func (c *Options) CombinedAfter(u int) int {
	perEpoch, text := len(c.Units)-1, c.text()
	u %= perEpoch
	first := text.Start(0)
	before, after := text.Start(c.Units[u])-first, text.Start(c.Units[u+1])-first
	switch {
	case u == perEpoch-1 || after/c.Sync.Words > before/c.Sync.Words:
		return c.Vocabulary
	case c.Sync.HotWords > 0 && after/c.Sync.HotWords > before/c.Sync.HotWords:
		return min(c.Sync.Hot, c.Vocabulary)
	}
	return 0
}

// Shards cuts the text into a part for each of several devices, of about as many tokens each, and returns the
// options of these. A unit of a part is as much of it as the unit was of the text, so that
// all devices go through their units at the same pace. Every sentence is in one part; its random choices are what they are on one device,
// for they follow from its place in the text.
func (c *Options) Shards(devices int) ([]Options, error) {
	text := c.text()
	if text.Sentences() < devices {
		return nil, fmt.Errorf("a text of %d sentences cannot be shared by %d GPUs", text.Sentences(), devices)
	}
	start, tokens, sentences := text.Start(0), text.Tokens(), text.Sentences()
	find := func(token int) int { // the first sentence that begins there or later
		return sort.Search(sentences, func(s int) bool { return text.Start(s)-start >= token })
	}
	shards := make([]Options, devices)
	first := 0
	for d := range shards {
		end := sentences
		if d < devices-1 {
			end = min(max(find(tokens*(d+1)/devices), first+1), sentences-(devices-1-d))
		}
		shard := *c
		shard.Text, shard.Sentences = textPart{text, first, end - first}, nil
		if c.Walks != nil {
			walks := *c.Walks
			walks.First += first
			shard.Walks = &walks
		}
		if c.Tokens != nil {
			shard.Tokens = c.Tokens[text.Start(first)-start : text.Start(end)-start]
		}
		shard.Units = []int{0}
		for _, sentence := range c.Units[1 : len(c.Units)-1] {
			at := find((tokens*d + text.Start(sentence) - start) / devices)
			shard.Units = append(shard.Units, min(max(at, first), end)-first)
		}
		shard.Units = append(shard.Units, end-first)
		if c.TextTokens > 0 {
			shard.TextTokens = min(c.TextTokens, shard.Text.Tokens())
		}
		shards[d], first = shard, end
	}
	return shards, nil
}

// A textPart is some sentences of a text, which keep their places.
type textPart struct {
	Text
	first, sentences int
}

func (p textPart) Tokens() int            { return p.Start(p.sentences) - p.Start(0) }
func (p textPart) Sentences() int         { return p.sentences }
func (p textPart) Start(sentence int) int { return p.Text.Start(p.first + sentence) }

// text returns the text, wherever it is.
func (c *Options) text() Text {
	if c.Text != nil {
		return c.Text
	}
	return memoryText{c.Tokens, c.Sentences}
}

type memoryText struct {
	tokens    []uint32
	sentences []int
}

func (t memoryText) Tokens() int                 { return len(t.tokens) }
func (t memoryText) Sentences() int              { return len(t.sentences) - 1 }
func (t memoryText) Start(sentence int) int      { return t.sentences[sentence] }
func (t memoryText) Copy(to []uint32, first int) { copy(to, t.tokens[first:]) }
func (t memoryText) GiveBack()                   {}
func (t memoryText) LongestSentence() (longest int) {
	for s, start := range t.sentences[:t.Sentences()] {
		longest = max(longest, t.sentences[s+1]-start)
	}
	return longest
}
