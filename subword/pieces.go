package subword

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// The marks of byte-pair pieces: of a word's begin in SentencePiece's vocabularies, of
// its end in those of subword-nmt.
const (
	pieceBegin = "▁"
	pieceEnd   = "</w>"
)

// Pieces are a vocabulary of byte-pair pieces (Sennrich, Haddow and Birch 2016), those
// that were merged first ahead. A word is split into its characters; then, again and
// again, the two neighbours are joined whose join comes first in the list. A character
// that is not in the list is an unknown part.
type Pieces struct {
	list       []string
	ranks      map[string]int
	begin, end bool // pieces carry the mark of a word's begin, or end
}

// NewPieces makes pieces of a list without repetitions.
func NewPieces(list []string) (*Pieces, error) {
	p := &Pieces{list: list, ranks: make(map[string]int, len(list))}
	for i, piece := range list {
		if _, twice := p.ranks[piece]; twice || piece == "" || strings.Contains(piece, "\n") {
			return nil, fmt.Errorf("piece %d, %q, is there twice, empty or has a line break", i+1, piece)
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

// ReadPieces reads a file with a piece a line: a piece, a piece and a number
// (SentencePiece's .vocab, a table with counts), or two parts that are merged
// (subword-nmt's codes, merges.txt), which stand for their join. Lines that begin with
// #version are left out, and later ones of a piece that was there.
func ReadPieces(path string) (*Pieces, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	list, err := readPieces(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	p, err := NewPieces(list)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

// readPieces reads the list. The characters of a merge are pieces, too: they come behind
// all others.
func readPieces(r io.Reader) (list []string, err error) {
	var parts []string
	seen := map[string]bool{}
	lines := bufio.NewScanner(r)
	for number := 1; lines.Scan(); number++ {
		line := lines.Text()
		fields := strings.Fields(line)
		switch {
		case len(fields) == 0 || strings.HasPrefix(line, "#version"):
			continue
		case len(fields) > 2:
			return nil, fmt.Errorf("line %d has %d columns; a line holds a piece, a piece and a number, or the two parts of a merge", number, len(fields))
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

// text is the list, a piece a line.
func (p *Pieces) text() string { return strings.Join(p.list, "\n") }

// Len is the number of parts, one for padding and one for the unknown among them.
func (p *Pieces) Len() int { return known + len(p.list) }

// Spell returns the parts of words. Words of less than atLeast parts are padded.
func (p *Pieces) Spell(words []string, atLeast int) *Spellings {
	s := &Spellings{starts: make([]int, 1, len(words)+1)}
	for _, word := range words {
		parts := p.split(word)
		for _, part := range parts {
			number := uint32(unknown)
			if rank, ok := p.ranks[part]; ok {
				number = uint32(known + rank)
			}
			s.symbols = append(s.symbols, number)
		}
		for range atLeast - len(parts) {
			s.symbols = append(s.symbols, padding)
		}
		s.starts = append(s.starts, len(s.symbols))
	}
	return s
}

// split returns the parts of a word.
func (p *Pieces) split(word string) (parts []string) {
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
