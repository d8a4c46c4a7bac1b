package sequential

import (
	"github.com/w2vcl/w2vcl/corpus"
)

// A Part says which part of a text a trainer has, of several that share one. Random choices are those of the whole text. All trainers
// have as many units, each as much of its part as the unit is of the text, so that they go through the text at one pace.
type Part struct {
	First  int // number of the part's first token in the text
	Tokens int // of the whole text; 0: the part is all
	Units  int // of an epoch; 0: as many as UnitsOfPart says
}

// UnitsOfPart returns how many units an epoch of a part has by itself. Trainers of several parts take the most of theirs.
func UnitsOfPart(part *corpus.Text, c Options) (int, error) {
	c, err := c.withDefaults()
	if err != nil {
		return 0, err
	}
	d, err := Find(c.Algorithm)
	c.Part.Units = 0
	return len(c.Part.cut(part, d, &c)) - 1, err
}

// cut returns the first token of each unit, and the end.
func (p Part) cut(part *corpus.Text, d Descriptor, c *Options) []int {
	own := part.Tokens()
	tokens := d.unit(max(own, p.Tokens), c)
	if own < p.Tokens {
		tokens = max(int(float64(tokens)*float64(own)/float64(p.Tokens)), 1)
	}
	units := cut(part, tokens)
	if p.Units == 0 || len(units)-1 == p.Units {
		return units
	}
	units = units[:1]
	for u := 1; u <= p.Units; u++ {
		units = append(units, part.Start(part.Find(int(float64(own)*float64(u)/float64(p.Units)))))
	}
	return units
}
