package testdata

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode"

	"github.com/klauspost/compress/zstd"
)

// minCount is make.py's MIN_COUNT. Each word of the derived sets occurs in the text
// at least so many times.
const minCount = 5

// text is the corpus, decompressed once for all tests.
var text = sync.OnceValues(func() ([]byte, error) {
	d, err := zstd.NewReader(Corpus())
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return io.ReadAll(d)
})

func TestCorpusIsThePublishedText(t *testing.T) {
	data, err := text()
	if err != nil {
		t.Fatalf("%s: %v", CorpusName, err)
	}
	const want = "3b397cfe7709004e9e421411ba5731e673e69c3de2f93905adfaf87c279a88e5"
	if got := fmt.Sprintf("%x", sha256.Sum256(data)); got != want {
		t.Errorf("%s: SHA-256 of the text is %s, want %s", CorpusName, got, want)
	}
	if got := bytes.Count(data, []byte("\n")); got != 233 {
		t.Errorf("%s has %d lines, want one for each of 233 addresses", CorpusName, got)
	}
}

func TestCorpusReadersAreIndependent(t *testing.T) {
	a, b := Corpus(), Corpus()
	if _, err := io.Copy(io.Discard, a); err != nil {
		t.Fatal(err)
	}
	magic := make([]byte, 4)
	if _, err := io.ReadFull(b, magic); err != nil || !bytes.Equal(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}) {
		t.Errorf("the second reader begins with % x, %v; want zstd's magic bytes", magic, err)
	}
}

// counts returns the number of times that each word occurs in the text, with
// make.py's tokenizer.
var counts = sync.OnceValue(func() map[string]int {
	data, _ := text() // TestCorpusIsThePublishedText reports its error
	lower := strings.ReplaceAll(strings.ToLower(string(data)), "\u2019", "'")
	n := make(map[string]int)
	for _, word := range strings.FieldsFunc(lower, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\''
	}) {
		n[strings.Trim(word, "'")]++
	}
	return n
})

func TestSimilaritySet(t *testing.T) {
	const name, wantPairs, wantBand = "similarity/wordnet-nouns.txt", 500, 100
	occurs := counts()
	seen := make(map[[2]string]bool)
	bands := make([]int, 5)
	for number, line := range lines(t, name) {
		f := strings.Split(line, "\t")
		if len(f) != 3 {
			t.Fatalf("%s:%d: %d fields, want two words and a score: %q", name, number+1, len(f), line)
		}
		score, err := strconv.ParseFloat(f[2], 64)
		if err != nil || score < 0 || score > 10 {
			t.Errorf("%s:%d: score %q, want 0 to 10", name, number+1, f[2])
		}
		for _, word := range f[:2] {
			if occurs[word] < minCount {
				t.Errorf("%s:%d: %q occurs %d times in the text, want %d", name, number+1, word, occurs[word], minCount)
			}
		}
		if f[0] >= f[1] || seen[[2]string{f[0], f[1]}] {
			t.Errorf("%s:%d: pair %q %q is repeated or not in order", name, number+1, f[0], f[1])
		}
		seen[[2]string{f[0], f[1]}] = true
		bands[min(int(score/2), 4)]++
	}
	if len(seen) != wantPairs {
		t.Errorf("%s has %d pairs, want %d", name, len(seen), wantPairs)
	}
	for band, n := range bands {
		if n < wantBand-2 || n > wantBand+2 { // make.py rounds the scores after it fills the bands
			t.Errorf("%s: scores from %d to %d: %d pairs, want %d", name, 2*band, 2*band+2, n, wantBand)
		}
	}
}

func TestAnalogySet(t *testing.T) {
	const name, wantSections = "analogy/wordnet-relations.txt", 13
	occurs := counts()
	questions := sections(t, name)
	if len(questions) != wantSections {
		t.Errorf("%s has %d sections, want %d", name, len(questions), wantSections)
	}
	for section, qs := range questions {
		pairs := make(map[[2]string]bool)
		for _, q := range qs {
			for _, word := range q {
				if occurs[word] < minCount {
					t.Errorf("%s: %s: %q occurs %d times in the text, want %d", name, section, word, occurs[word], minCount)
				}
			}
			pairs[[2]string{q[0], q[1]}] = true
			if q[0] == q[2] || q[1] == q[3] {
				t.Errorf("%s: %s: %q asks for its own words", name, section, q)
			}
		}
		if n := len(pairs); n < 6 || len(qs) != n*(n-1) {
			t.Errorf("%s: %s: %d questions from %d pairs, want every ordered couple of at least 6", name, section, len(qs), n)
		}
	}
}

func TestGoogleAnalogiesAreUnchanged(t *testing.T) {
	const name = "analogy/questions-words.txt"
	data, err := fs.ReadFile(Eval(), name)
	if err != nil {
		t.Fatal(err)
	}
	const want = "8c29b3332afc46f3fb8be04cb5297bf96f39aa7131272dff57869b4485b22a36"
	if got := fmt.Sprintf("%x", sha256.Sum256(data)); got != want {
		t.Errorf("%s: SHA-256 is %s, want %s", name, got, want)
	}
	total := 0
	for _, qs := range sections(t, name) {
		total += len(qs)
	}
	if total != 19544 {
		t.Errorf("%s has %d questions, want 19544", name, total)
	}
}

func TestLicenceOfWordNetTravelsWithItsSets(t *testing.T) {
	data, err := fs.ReadFile(files, "licenses/WordNet.txt")
	if err != nil || !bytes.Contains(data, []byte("Princeton University")) {
		t.Errorf("WordNet's licence must accompany all copies: %v, %d bytes", err, len(data))
	}
}

// sections reads a file in the format of word2vec's questions-words.txt.
func sections(t *testing.T, name string) map[string][][4]string {
	t.Helper()
	found := make(map[string][][4]string)
	section := ""
	for number, line := range lines(t, name) {
		if title, ok := strings.CutPrefix(line, ": "); ok {
			section = title
			continue
		}
		f := strings.Fields(line)
		if len(f) != 4 || section == "" {
			t.Fatalf("%s:%d: want a section, then four words a line: %q", name, number+1, line)
		}
		found[section] = append(found[section], [4]string(f))
	}
	return found
}

func lines(t *testing.T, name string) []string {
	t.Helper()
	f, err := Eval().Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var found []string
	s := bufio.NewScanner(f)
	for s.Scan() {
		found = append(found, s.Text())
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	return found
}
