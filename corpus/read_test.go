package corpus

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf8"

	"github.com/w2vcl/w2vcl/corpus/wordcount"
	"github.com/w2vcl/w2vcl/internal/textfile"
)

// The reference reads a text as plainly as the rules can be written down:
// strings.Fields, a regular expression, maps. It shares no code with Read.
var referenceWord = regexp.MustCompile(`[\pL\pM\pN]+(?:['’][\pL\pM\pN]+)*`)

func reference(files [][]byte, o Options) (*Corpus, error) {
	if o.MinCount == 0 {
		o.MinCount = 1
	}
	if o.MaxSentence == 0 {
		o.MaxSentence = 1000
	}
	if o.maxToken == 0 {
		o.maxToken = 65536
	}
	c := &Corpus{Sentences: []int{0}}
	var lines [][]string
	counts := map[string]uint64{}
	for _, file := range files {
		c.Stats.Files++
		c.Stats.Bytes += int64(len(file))
		text := strings.TrimPrefix(string(file), "\ufeff")
		for i, r := range text {
			if _, size := utf8.DecodeRuneInString(text[i:]); r == utf8.RuneError && size == 1 {
				c.Stats.InvalidUTF8++
			}
		}
		for line := range strings.Lines(text) {
			c.Stats.Lines++
			tokens := strings.Fields(line)
			if o.Tokenizer == Words {
				tokens = referenceWord.FindAllString(line, -1)
			}
			var words []string
			for _, token := range tokens {
				c.Stats.Tokens++
				if len(token) > o.maxToken {
					c.Stats.LongTokens++
					continue
				}
				word := string([]rune(token)) // replaces invalid bytes
				if o.Tokenizer == Words {
					word = strings.ReplaceAll(word, "’", "'")
				}
				if o.Lowercase {
					word = strings.ToLower(word)
				}
				if referencePunctuated.MatchString(word) {
					c.Stats.Punctuated++
				}
				if referenceCapital.MatchString(word) {
					c.Stats.Capitalized++
				}
				counts[word]++
				words = append(words, word)
			}
			lines = append(lines, words)
		}
	}
	c.Stats.Types = int64(len(counts))
	if len(counts) == 0 {
		return nil, ErrEmpty
	}
	v := &Vocabulary{}
	for word, n := range counts {
		if n >= uint64(o.MinCount) {
			v.Words = append(v.Words, word)
		}
	}
	if len(v.Words) == 0 && o.Vocabulary == nil {
		return nil, ErrMinCount
	}
	slices.SortFunc(v.Words, func(a, b string) int {
		if counts[a] != counts[b] {
			return int(counts[b]) - int(counts[a])
		}
		return strings.Compare(a, b)
	})
	if o.MaxWords > 0 {
		v.Words = v.Words[:min(o.MaxWords, len(v.Words))]
	}
	for _, word := range v.Words {
		v.Counts = append(v.Counts, counts[word])
	}
	if o.Vocabulary != nil {
		if v = o.Vocabulary; !slices.ContainsFunc(v.Words, func(word string) bool { return counts[word] > 0 }) {
			return nil, ErrMinCount
		}
	}
	ids := map[string]uint32{}
	for id, word := range v.Words {
		ids[word] = uint32(id)
	}
	c.Vocabulary = v
	if o.JoinLines {
		lines = [][]string{slices.Concat(lines...)}
	}
	for _, words := range lines {
		var used []uint32
		for _, word := range words {
			if id, ok := ids[word]; ok {
				used = append(used, id)
			}
		}
		if len(used) > o.MaxSentence && !o.JoinLines {
			c.Stats.CutSentences++
		}
		for sentence := range slices.Chunk(used, o.MaxSentence) {
			c.Tokens = append(c.Tokens, sentence...)
			c.Sentences = append(c.Sentences, len(c.Tokens))
			c.Stats.Sentences++
			c.Stats.TokensUsed += int64(len(sentence))
		}
	}
	return c, nil
}

// readAll reads texts held in memory, one source each.
func readAll(ctx context.Context, files [][]byte, o Options) (*Corpus, error) {
	return read(ctx, joined(files), o)
}

// joined is the input of texts held in memory.
func joined(files [][]byte) *wordcount.Input {
	var inputs []*wordcount.Input
	for i, file := range files {
		inputs = append(inputs, wordcount.From(bytes.NewReader(file), int64(len(file)), fmt.Sprintf("text %d", i)))
	}
	return wordcount.Join("texts", inputs...)
}

// difference describes how two corpora differ; "" if they do not.
func difference(got, want *Corpus) string {
	switch {
	case got.Stats != want.Stats:
		return fmt.Sprintf("statistics\n got %+v\nwant %+v", got.Stats, want.Stats)
	case !slices.Equal(got.Vocabulary.Words, want.Vocabulary.Words):
		return fmt.Sprintf("words\n got %q\nwant %q", got.Vocabulary.Words, want.Vocabulary.Words)
	case !slices.Equal(got.Vocabulary.Counts, want.Vocabulary.Counts):
		return fmt.Sprintf("counts\n got %v\nwant %v", got.Vocabulary.Counts, want.Vocabulary.Counts)
	case !slices.Equal(got.Tokens, want.Tokens):
		return fmt.Sprintf("tokens\n got %v\nwant %v", got.Tokens, want.Tokens)
	case !slices.Equal(got.Sentences, want.Sentences):
		return fmt.Sprintf("sentences\n got %v\nwant %v", got.Sentences, want.Sentences)
	}
	return ""
}

// checkAgainstReference reads the files in several ways and compares.
func checkAgainstReference(t *testing.T, files [][]byte, o Options) {
	t.Helper()
	want, wantErr := reference(files, o)
	for _, threads := range []int{1, 2, 3, 7} {
		for _, chunkSize := range []int{1, 5, 64, 0} {
			o.Threads, o.chunkSize = threads, chunkSize
			got, err := readAll(context.Background(), files, o)
			if wantErr != nil || err != nil {
				if !errors.Is(err, wantErr) {
					t.Fatalf("%+v: files %q: error %v, want %v", o, files, err, wantErr)
				}
				continue
			}
			if d := difference(got, want); d != "" {
				t.Fatalf("%+v: files %.2000q: %s", o, files, d)
			}
		}
	}
	checkFile(t, files, o, want, wantErr)
}

// pieces are the parts of random texts: words and parts of words of all
// lengths around those the encoder treats differently, separators, and bytes
// that are no UTF-8.
var pieces = []string{
	"a", "b", "I", "the", "The", "seven77", "eight888", "nine99999", "fifteen15fifte", "fifteen15fifteX",
	"sixteen16sixteen", "sixteen16sixteeN", "seventeen17sevente", "averyveryveryverylongword", "\x01", "\x1f", "\x7f",
	"é", "É", "ß", "İ", "ſ", "Привет", "мир", "语言", "अनुच्छेद", "e\u0301", "𝒳", "\u2019", "'", "''", "don't", "don’t", "-", "_", "3.14",
	"\xff", "\xc3", "\xe2\x82", "\xf0\x9f\x98", "\xed\xa0\x80", "\u0378", "\ufffd", "\ufeff",
	" ", " ", " ", "  ", "\t", "\n", "\n", "\r\n", "\n\n", "\v", "\f", "\u0085", "\u00a0", "\u2003", "\u3000", "\u2028",
}

func randomText(random *rand.Rand, length int) []byte {
	var text []byte
	few := pieces[random.IntN(len(pieces)):]
	for range length {
		switch random.IntN(8) {
		case 0:
			text = append(text, few[random.IntN(len(few))]...)
		case 1, 2, 3:
			text = append(text, ' ')
		default:
			text = append(text, pieces[random.IntN(len(pieces))]...)
		}
	}
	return text
}

func TestReadAgainstReference(t *testing.T) {
	seed := rand.Uint64() // fresh texts each time; the seed repeats one
	random := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	texts := 50
	if testing.Short() {
		texts = 30
	}
	for range texts {
		files := make([][]byte, random.IntN(4))
		for i := range files {
			files[i] = randomText(random, random.IntN(120))
		}
		checkAgainstReference(t, files, Options{
			MinCount:    random.IntN(4),
			MaxSentence: random.IntN(12),
			JoinLines:   random.IntN(3) == 0,
			MaxWords:    random.IntN(3) * random.IntN(9),
			Vocabulary:  []*Vocabulary{nil, nil, {Words: []string{"the", "sixteen16sixteen", "b", "мир"}, Counts: []uint64{4, 3, 2, 1}}}[random.IntN(3)],
			Lowercase:   random.IntN(2) == 0,
			Tokenizer:   Tokenizer(random.IntN(2)),
			maxToken:    []int{0, 15, 17}[random.IntN(3)],
		})
	}
}

// FuzzRead compares with the reference, too.
func FuzzRead(f *testing.F) {
	f.Add([]byte("The cat\nsat on  the mat"), byte(0))
	f.Add([]byte("don't ''quote'' a'b'c’d 3.14 \xff\n\n\u3000"), byte(3))
	f.Add([]byte("\xef\xbb\xbfaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\xe2\x82"), byte(7))
	f.Fuzz(func(t *testing.T, text []byte, flags byte) {
		if bytes.IndexByte(text, 0) >= 0 {
			t.Skip()
		}
		o := Options{
			Tokenizer:   Tokenizer(flags & 1),
			Lowercase:   flags&2 != 0,
			MaxSentence: 3 + int(flags>>6),
			MinCount:    int(flags >> 3 & 3),
		}
		if flags&4 != 0 {
			o.maxToken = 15
		}
		middle := len(text) / 2
		for _, files := range [][][]byte{{text}, {text[:middle], text[middle:]}} {
			// Part of a text may be a cut magic number, though the whole begins with none.
			if !slices.ContainsFunc(files, func(file []byte) bool { return textfile.FormatOf(file[:min(len(file), textfile.HeadBytes)]) != "" }) {
				checkAgainstReference(t, files, o)
			}
		}
	})
}

// sentencesOf returns the words of each sentence, with spaces between.
func sentencesOf(c *Corpus) (sentences []string) {
	for s := range len(c.Sentences) - 1 {
		var words []string
		for _, id := range c.Tokens[c.Sentences[s]:c.Sentences[s+1]] {
			words = append(words, c.Vocabulary.Words[id])
		}
		sentences = append(sentences, strings.Join(words, " "))
	}
	return sentences
}

func TestReadRules(t *testing.T) {
	for _, test := range []struct {
		name, text string
		options    Options
		want       []string // sentences
	}{
		{"lines", "a b\n\n \nc\n", Options{}, []string{"a b", "c"}},
		{"no line feed at the end", "a b\nc", Options{}, []string{"a b", "c"}},
		{"CR LF", "a b\r\nc\r\n", Options{}, []string{"a b", "c"}},
		{"byte order mark", "\ufeffa b", Options{}, []string{"a b"}},
		{"byte order mark inside", "a \ufeffb", Options{}, []string{"a \ufeffb"}},
		{"Unicode spaces", "a\u00a0b\u3000c\u2003d", Options{}, []string{"a b c d"}},
		{"rare words go first, then sentences are cut", "a x a y a z a a", Options{MinCount: 2, MaxSentence: 2}, []string{"a a", "a a", "a"}},
		{"sentence just as long as it may be", "a b c", Options{MaxSentence: 3}, []string{"a b c"}},
		{"sentence of rare words vanishes", "a a\nx y\na", Options{MinCount: 2}, []string{"a a", "a"}},
		{"case is kept", "The THE the", Options{}, []string{"The THE the"}},
		{"lower case", "The THE ÉTÉ ПРИВЕТ", Options{Lowercase: true}, []string{"the the été привет"}},
		{"punctuation is kept", `"Well," she said.`, Options{}, []string{`"Well," she said.`}},
		{"words", `"Well," she said: don't 'quote' rock'n'roll it’s 3.14 e-mail`, Options{Tokenizer: Words},
			[]string{"Well she said don't quote rock'n'roll it's 3 14 e mail"}},
		{"words with marks", "e\u0301te\u0301, हिन्दी!", Options{Tokenizer: Words}, []string{"e\u0301te\u0301 हिन्दी"}},
		{"apostrophes at the ends", "'tis the dogs' o''clock'", Options{Tokenizer: Words}, []string{"tis the dogs o clock"}},
		{"invalid bytes are replaced", "caf\xe9 \xff", Options{}, []string{"caf\ufffd \ufffd"}},
		{"control characters are no space", "a\x01b \x1c", Options{}, []string{"a\x01b \x1c"}},
		{"too long", "a sixteen16sixteen c", Options{maxToken: 15}, []string{"a c"}},
		{"as long as it may be", "a fifteen15fiftee c", Options{maxToken: 15}, []string{"a fifteen15fiftee c"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, err := OpenFrom(context.Background(), strings.NewReader(test.text), "text", test.options, Storage{})
			if err != nil {
				t.Fatal(err)
			}
			if got := sentencesOf(c); !slices.Equal(got, test.want) {
				t.Errorf("sentences %q, want %q", got, test.want)
			}
			checkAgainstReference(t, [][]byte{[]byte(test.text)}, test.options)
		})
	}
}

func TestStatsAddUp(t *testing.T) {
	text := "a b a\n\nc d a\xff\n" + strings.Repeat("x", MaxTokenBytes+1) + " a\n" + strings.Repeat("b ", 2500)
	c, err := OpenFrom(context.Background(), strings.NewReader(text), "text", Options{MinCount: 2}, Storage{})
	if err != nil {
		t.Fatal(err)
	}
	want := Stats{
		Files: 1, Bytes: int64(len(text)), Lines: 5, Tokens: 2508, Types: 5,
		TokensUsed: 2504, Sentences: 5, CutSentences: 1, InvalidUTF8: 1, LongTokens: 1,
	}
	if c.Stats != want {
		t.Errorf("got %+v\nwant %+v", c.Stats, want)
	}
	if n := c.Vocabulary.Total(); n != uint64(c.Stats.TokensUsed) || len(c.Tokens) != int(n) {
		t.Errorf("%d tokens, counts sum to %d, %d used", len(c.Tokens), n, c.Stats.TokensUsed)
	}
}

// The most numbers of one 16-bit code, and words that need three codes.
func TestManyTypes(t *testing.T) {
	var text bytes.Buffer
	for range 2 {
		for i := range 70_000 {
			fmt.Fprintf(&text, "w%d ", i)
		}
		text.WriteByte('\n')
	}
	files := [][]byte{text.Bytes()}
	want, err := reference(files, Options{})
	if err != nil {
		t.Fatal(err)
	}
	threadCounts := []int{1, 2, 5, 64}
	if testing.Short() {
		threadCounts = []int{5} // TestReadAgainstReference has others
	}
	for _, threads := range threadCounts {
		got, err := readAll(context.Background(), files, Options{Threads: threads, chunkSize: 10_000})
		if err != nil {
			t.Fatal(err)
		}
		if d := difference(got, want); d != "" {
			t.Fatalf("%d threads: %.2000s", threads, d)
		}
	}
}

func heapInUse() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// A token of any length is skipped without being held.
func TestEndlessToken(t *testing.T) {
	const length = 36 << 20
	text := io.MultiReader(strings.NewReader("a "), io.LimitReader(&repeater{pattern: []byte("кот")}, length), strings.NewReader("\nb"))
	var held uint64
	o := Options{Threads: 2, Progress: func(int64, int64) { held = max(held, heapInUse()) }}
	before := heapInUse()
	c, err := OpenFrom(context.Background(), text, "token", o, Storage{})
	if err != nil {
		t.Fatal(err)
	}
	if got := sentencesOf(c); !slices.Equal(got, []string{"a", "b"}) || c.Stats.LongTokens != 1 || c.Stats.Tokens != 3 {
		t.Errorf("sentences %q, %+v", got, c.Stats)
	}
	if held > before+length-(4<<20) {
		t.Errorf("%d bytes held on the heap", held-before)
	}
}

// A repeater is an endless text.
type repeater struct {
	pattern []byte
	at      int
}

func (r *repeater) Read(p []byte) (int, error) {
	for n := 0; n < len(p); {
		k := copy(p[n:], r.pattern[r.at:])
		n += k
		r.at = (r.at + k) % len(r.pattern)
	}
	return len(p), nil
}

func TestReadErrors(t *testing.T) {
	broken := errors.New("the disk is on fire")
	for _, test := range []struct {
		name    string
		text    io.Reader
		options Options
		is      error
		message string
	}{
		{"empty", strings.NewReader(""), Options{}, ErrEmpty, "corpus NAME: the text has no words (0 bytes read)"},
		{"blank", strings.NewReader(" \n\r\n\u3000"), Options{}, ErrEmpty, "corpus NAME: the text has no words (7 bytes read)"},
		{"only punctuation", strings.NewReader("... !"), Options{Tokenizer: Words}, ErrEmpty, "no words"},
		{"only long tokens", strings.NewReader("sixteen16sixteen"), Options{maxToken: 15}, ErrEmpty, "all its tokens (1) are longer than 15 bytes"},
		{"rare", strings.NewReader("b b a a c"), Options{MinCount: 3}, ErrMinCount,
			`corpus NAME: no word is frequent enough: none occurs 3 times, the minimum count; the most frequent one, "a", occurs 2 times`},
		{"all rare", strings.NewReader("b a"), Options{MinCount: 2}, ErrMinCount, `the most frequent one, "a", occurs 1 time`},
		{"NUL", strings.NewReader("abc d\x00f"), Options{}, nil, "corpus: NAME: byte 5 of the text is NUL"},
		{"NUL after a byte order mark", strings.NewReader("\ufeffab\x00"), Options{}, nil, "byte 5 of the text"},
		{"NUL in a later chunk", strings.NewReader("abc def\x00"), Options{chunkSize: 3}, nil, "byte 7 of the text"},
		{"UTF-16", strings.NewReader("\xff\xfea\x00"), Options{}, nil, "NAME: byte 0: this is UTF-16 text"},
		{"7-Zip", strings.NewReader("7z\xbc\xaf\x27\x1c..."), Options{}, nil, "NAME: byte 0: this is 7-Zip, which cannot be read as text: unpack it first"},
		{"zip", strings.NewReader("PK\x03\x04..."), Options{}, nil, "this is zip"},
		{"cut-off xz", strings.NewReader("\xfd7zX"), Options{}, nil, "the xz file is cut off"},
		{"read error", io.MultiReader(strings.NewReader("abc def "), iotest.ErrReader(broken)), Options{}, broken, "NAME: byte 8: the disk is on fire"},
		{"read error at once", iotest.ErrReader(broken), Options{}, broken, "NAME: byte 0: the disk"},
		{"MinCount", nil, Options{MinCount: -1}, nil, "minimum count -1 is negative"},
		{"MaxSentence", nil, Options{MaxSentence: -1}, nil, "sentence length -1 is negative"},
		{"Threads", nil, Options{Threads: -2}, nil, "number of threads -2 is negative"},
		{"Tokenizer", nil, Options{Tokenizer: 7}, nil, "unknown tokenizer 7"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, err := OpenFrom(context.Background(), test.text, "NAME", test.options, Storage{})
			if err == nil {
				t.Fatalf("no error; corpus %+v", c.Stats)
			}
			if test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("error %q is not %q", err, test.is)
			}
			if !strings.Contains(err.Error(), test.message) {
				t.Errorf("error %q does not contain %q", err, test.message)
			}
		})
	}
}

// Readers may return little at a time, and data together with an error.
func TestAwkwardReaders(t *testing.T) {
	text := []byte("the cat\nsat on the mat \u3000 é\n")
	want, err := reference([][]byte{text}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, wrap := range map[string]func(io.Reader) io.Reader{
		"one byte": iotest.OneByteReader, "half": iotest.HalfReader, "data with error": iotest.DataErrReader,
	} {
		c, err := OpenFrom(context.Background(), wrap(bytes.NewReader(text)), name, Options{}, Storage{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if d := difference(c, want); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	idle := readerFunc(func([]byte) (int, error) { return 0, nil })
	for _, start := range []string{"", strings.Repeat("begin ", 100_000)} {
		r := io.MultiReader(strings.NewReader(start), idle)
		if _, err := OpenFrom(context.Background(), r, "idle", Options{}, Storage{}); !errors.Is(err, io.ErrNoProgress) {
			t.Errorf("reader that returns nothing after %d bytes: error %v", len(start), err)
		}
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestCancel(t *testing.T) {
	t.Run("before", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := OpenFrom(ctx, strings.NewReader("a b c"), "text", Options{}, Storage{}); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("endless text", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		o := Options{Progress: func(done, _ int64) {
			if done > 1<<20 {
				cancel()
			}
		}}
		if _, err := OpenFrom(ctx, &repeater{pattern: []byte("one two\n")}, "text", o, Storage{}); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("waiting for standard input", func(t *testing.T) {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		replaceStdin(t, r)
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
		defer cancel()
		if _, err := w.WriteString("some words "); err != nil {
			t.Fatal(err)
		}
		// A reader that is still waiting after a minute gets the end of the input, so the test ends as well.
		end := time.AfterFunc(time.Minute, func() { _ = w.Close() })
		if _, err := Open(ctx, "-", Options{}, Storage{}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		if !end.Stop() {
			t.Error("it waited for the end of the input")
		}
		_ = w.Close()
	})
}

func replaceStdin(t *testing.T, file *os.File) {
	old := os.Stdin
	os.Stdin = file
	t.Cleanup(func() { os.Stdin = old })
}

func TestProgress(t *testing.T) {
	text := strings.Repeat("one two three\n", 1000)
	var calls [][2]int64
	o := Options{chunkSize: 1000, Progress: func(done, total int64) { calls = append(calls, [2]int64{done, total}) }}
	if _, err := readAll(context.Background(), [][]byte{[]byte(text), []byte(text)}, o); err != nil {
		t.Fatal(err)
	}
	total := int64(2 * len(text))
	if last := calls[len(calls)-1]; last != [2]int64{total, total} {
		t.Errorf("last call with %v, want %d of %d", last, total, total)
	}
	for i, call := range calls {
		if call[1] != total || i > 0 && call[0] < calls[i-1][0] {
			t.Errorf("call %d with %v after %v", i, call, calls[max(i-1, 0)])
		}
	}
	calls = nil
	if _, err := OpenFrom(context.Background(), strings.NewReader(text), "text", o, Storage{}); err != nil {
		t.Fatal(err)
	}
	if last := calls[len(calls)-1]; last != [2]int64{int64(len(text)), -1} {
		t.Errorf("total unknown: last call with %v", last)
	}
}

func TestFingerprint(t *testing.T) {
	parse := func(text string, o Options) *Corpus {
		c, err := OpenFrom(context.Background(), strings.NewReader(text), "text", o, Storage{})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	const text = "the cat sat\non the mat"
	// The golden value keeps files that carry a fingerprint readable.
	const golden = 0x2c0373f65c1539a
	if got := parse(text, Options{}).Fingerprint(); got != golden {
		t.Errorf("fingerprint %#x, want %#x", got, uint64(golden))
	}
	seen := map[uint64]string{}
	for _, other := range []string{text, "the cat sat on the mat", "the cat sat\non the hat", "the cat\nsat on the mat", "the cat sat\non the mat the"} {
		f := parse(other, Options{Threads: 3, chunkSize: 4}).Fingerprint()
		if same, found := seen[f]; found {
			t.Errorf("same fingerprint of %q and %q", same, other)
		}
		seen[f] = other
	}
	if parse(text+"\r\n\n", Options{Threads: 2}).Fingerprint() != golden {
		t.Error("the fingerprint depends on text that is not in the corpus")
	}
}

var (
	referencePunctuated = regexp.MustCompile(`(?s)[\p{L}\p{Nd}].*\p{P}$`)
	referenceCapital    = regexp.MustCompile(`^\p{Lu}`)
)

// TestRawText counts what tells raw text from prepared text, whatever the number of
// threads and chunks.
func TestRawText(t *testing.T) {
	const text = "The end, said Dr. Who: \"no.\" , . -- 3,141 U.S. don't élan Élan it…\n"
	for _, test := range []struct {
		options                 Options
		punctuated, capitalized int64
	}{
		{Options{}, 6, 5}, // end, Dr. Who: "no." U.S. it… and The Dr. Who: U.S. Élan
		{Options{Lowercase: true}, 6, 0},
		{Options{Tokenizer: Words}, 0, 6}, // U and S are two
	} {
		for _, threads := range []int{1, 3} {
			test.options.Threads, test.options.chunkSize = threads, 5
			c, err := OpenFrom(t.Context(), strings.NewReader(strings.Repeat(text, 10)), "text", test.options, Storage{})
			if err != nil {
				t.Fatal(err)
			}
			if s := c.Stats; s.Punctuated != 10*test.punctuated || s.Capitalized != 10*test.capitalized {
				t.Errorf("%+v: %d punctuated and %d with capitals, want %d and %d", test.options, s.Punctuated, s.Capitalized, 10*test.punctuated, 10*test.capitalized)
			}
		}
	}
}
