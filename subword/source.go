package subword

import "github.com/w2vcl/w2vcl/internal/terminal"

// A Source is what composes the vectors of words that the text lacks. It is also the kind of its file.
type Source string

// The sources.
const (
	FromCNN    Source = "cnn"
	FromNGrams Source = "ngrams"
	FromFit    Source = "fit" // n-grams by NGrams.Fit
)

// An Origin says where the vector of a word that the text lacks is from. Its zero value is that of a word of the text.
type Origin struct {
	Source Source `json:"source,omitempty"`
	Parts  int    `json:"parts,omitempty"` // of the word that are known; see Composer
}

// String is "from 9 n-grams", or "from n-grams" without a number of parts.
func (o Origin) String() string {
	switch {
	case o.Source == FromCNN:
		return "from the CNN"
	case o.Source == FromFit:
		return "from a fit to spelling"
	case o.Source == FromNGrams && o.Parts > 0:
		return "from " + terminal.Quantity(terminal.Number(o.Parts), "n-gram")
	case o.Source == FromNGrams:
		return "from n-grams"
	default:
		return "from the encoder " + string(o.Source)
	}
}
