// Package bpe splits words into byte-pair pieces of a given vocabulary (Sennrich, Haddow
// and Birch 2016). Start with Pieces.
package bpe

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/w2vcl/w2vcl/internal/textfile"
)

// The marks of byte-pair pieces: of a word's begin in SentencePiece's vocabularies, of
// its end in those of subword-nmt.
const (
	pieceBegin = "▁"
	pieceEnd   = "</w>"
)

// Pieces are a vocabulary of byte-pair pieces, those that were merged first ahead. A word
// is split into its characters; then, again and again, the two neighbours are joined
// whose join comes first in the list.
type Pieces struct {
	list       []string
	ranks      map[string]int
	begin, end bool // pieces carry the mark of a word's begin, or end
}

// New makes pieces of a list without repetitions.
func New(list []string) (*Pieces, error) {
	p := &Pieces{list: list, ranks: make(map[string]int, len(list))}
	for i, piece := range list {
		if _, twice := p.ranks[piece]; twice || piece == "" || strings.Contains(piece, "\n") {
			return nil, fmt.Errorf("piece %d, %q, occurs twice, is empty or has a line break", i+1, piece)
		}
		p.ranks[piece] = i
		p.begin = p.begin || strings.HasPrefix(piece, pieceBegin)
		p.end = p.end || strings.HasSuffix(piece, pieceEnd)
	}
	if len(list) == 0 {
		return nil, errors.New("there are no pieces")
	}
	return p, nil
}

// Read reads a file with a piece a line: a piece, a piece and a number
// (SentencePiece's .vocab, a table with counts), or two parts that are merged
// (subword-nmt's codes, merges.txt), which stand for their join. Lines that begin with
// #version are left out, and later ones of a piece that was there.
func Read(path string) (*Pieces, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	list, err := readList(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	p, err := New(list)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

// readList reads the list. The characters of a merge are pieces, too: they come behind
// all others.
func readList(r io.Reader) (list []string, err error) {
	var parts []string
	seen := map[string]bool{}
	lines := textfile.NewLines(r)
	for lines.Next() {
		line := lines.Text()
		fields := strings.Fields(line)
		switch {
		case len(fields) == 0 || strings.HasPrefix(line, "#version"):
			continue
		case len(fields) > 2:
			return nil, fmt.Errorf("line %d has %d columns; a line holds a piece, a piece and a number, or the two parts of a merge", lines.Number, len(fields))
		}
		piece := fields[0]
		if len(fields) == 2 {
			if _, err := strconv.ParseFloat(fields[1], 64); err != nil || !strings.Contains(line, "\t") && fields[0] == fields[1] {
				parts = append(parts, fields...)
				piece += fields[1]
			}
		}
		if !seen[piece] {
			seen[piece], list = true, append(list, piece)
		}
	}
	for _, part := range parts {
		if !seen[part] {
			seen[part], list = true, append(list, part)
		}
	}
	return list, lines.Err()
}

// String returns the list, a piece a line.
func (p *Pieces) String() string { return strings.Join(p.list, "\n") }

// Len is the number of pieces.
func (p *Pieces) Len() int { return len(p.list) }

// Rank returns the place of a piece in the list, from 0; ok is false if it is not there.
func (p *Pieces) Rank(piece string) (rank int, ok bool) {
	rank, ok = p.ranks[piece]
	return rank, ok
}

// Split returns the parts of a word. A character that is not in the list is a part, too.
func (p *Pieces) Split(word string) (parts []string) {
	if p.begin {
		word = pieceBegin + word
	}
	for _, character := range word {
		parts = append(parts, string(character))
	}
	if p.end && len(parts) > 0 {
		parts[len(parts)-1] += pieceEnd
	}
	for {
		best, at := len(p.list), 0
		for i := 1; i < len(parts); i++ {
			if rank, ok := p.ranks[parts[i-1]+parts[i]]; ok && rank < best {
				best, at = rank, i
			}
		}
		if best == len(p.list) {
			return parts
		}
		parts[at-1] += parts[at]
		parts = append(parts[:at], parts[at+1:]...)
	}
}
