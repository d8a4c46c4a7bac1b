package embedding

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/w2vcl/w2vcl/internal/atomicfile"
)

// A Format is a file format of word vectors, by the name used on the command
// line.
type Format string

// The formats. All of them are read and written.
const (
	Word2VecText   Format = "text"        // "V N" line, then a line "word v1 … vN" each
	Word2VecBinary Format = "binary"      // "V N" line, then word, space, N float32, newline
	FastText       Format = "vec"         // fastText's .vec; the same as Word2VecText
	GloVe          Format = "glove"       // Word2VecText without its first line
	NPY            Format = "npy"         // numpy matrix, the words in a file beside it
	Safetensors    Format = "safetensors" // tensors "vectors" and "words"
	Projector      Format = "projector"   // TensorBoard: values as TSV, the words in a file beside it
)

// extensions maps a file's extension to its format, see [FormatOf].
var extensions = map[string]Format{
	".txt":         Word2VecText,
	".bin":         Word2VecBinary,
	".vec":         FastText,
	".glove":       GloVe,
	".npy":         NPY,
	".safetensors": Safetensors,
	".tsv":         Projector,
}

// Formats lists all formats.
func Formats() []Format {
	return []Format{Word2VecText, Word2VecBinary, FastText, GloVe, NPY, Safetensors, Projector}
}

// ParseFormat returns the format of that name.
func ParseFormat(name string) (Format, error) {
	if f := Format(strings.ToLower(name)); slices.Contains(Formats(), f) {
		return f, nil
	}
	return "", fmt.Errorf("unknown vector format %q; the formats are %s", name, list(Formats()))
}

// FormatOf returns the format that a path to be written asks for by its
// extension: .txt, .bin, .vec, .glove (also .glove.txt), .npy, .safetensors
// or .tsv.
func FormatOf(path string) (Format, error) {
	name := strings.ToLower(filepath.Base(path))
	if strings.HasSuffix(name, ".glove.txt") {
		return GloVe, nil
	}
	if f, ok := extensions[filepath.Ext(name)]; ok {
		return f, nil
	}
	if strings.HasSuffix(name, ".gz") {
		return "", fmt.Errorf("%s: compressed vectors are read but not written; leave out .gz", path)
	}
	return "", fmt.Errorf("%s: the extension does not say which format is wanted; use .txt, .bin, .vec, .glove, .npy, .safetensors or .tsv, or name a format (%s)", path, list(Formats()))
}

func list(formats []Format) string {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = string(f)
	}
	return strings.Join(names, ", ")
}

// Save writes a table to path in format f; an empty f takes the format from
// the extension. NPY and Projector write a second file beside it, see
// [SiblingPath]. Each file is written whole or not at all.
func Save(path string, t *Table, f Format) error {
	if f == "" {
		var err error
		if f, err = FormatOf(path); err != nil {
			return err
		}
	}
	if err := checkWords(t, f); err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	// The words first: a matrix beside the words of an older table of the
	// same size would go unnoticed, words without a matrix do not.
	if sibling := SiblingPath(path, f); sibling != "" {
		if err := atomicfile.Write(sibling, func(w io.Writer) error { return writeWords(w, t.Words) }); err != nil {
			return err
		}
	}
	return atomicfile.Write(path, func(w io.Writer) error {
		switch f {
		case Word2VecText, FastText:
			return writeText(w, t, true)
		case GloVe:
			return writeText(w, t, false)
		case Word2VecBinary:
			return writeBinary(w, t)
		case NPY:
			return writeNPY(w, t)
		case Safetensors:
			return writeSafetensors(w, t)
		case Projector:
			return writeProjector(w, t)
		}
		_, err := ParseFormat(string(f))
		return err
	})
}

// SiblingPath returns the file that holds the words of vectors stored at path
// in format f, or "" where the words are in the same file: OUT.words.txt
// beside OUT.npy; metadata.tsv beside vectors.tsv, and OUT.metadata.tsv beside
// any other OUT.tsv.
func SiblingPath(path string, f Format) string {
	dir, name := filepath.Split(path)
	if strings.EqualFold(filepath.Ext(name), ".gz") { // read only; the words may be plain or .gz too
		name = name[:len(name)-len(".gz")]
	}
	stem := strings.TrimSuffix(name, filepath.Ext(name))
	switch f {
	case NPY:
		return dir + stem + ".words.txt"
	case Projector:
		if i := strings.LastIndex(stem, "vectors"); i >= 0 {
			return dir + stem[:i] + "metadata" + stem[i+len("vectors"):] + ".tsv"
		}
		return dir + stem + ".metadata.tsv"
	}
	return ""
}

// forbidden returns the characters that words must not contain in format f.
func forbidden(f Format) string {
	switch f {
	case NPY, Safetensors:
		return "\n\r"
	case Projector:
		return "\t\n\r"
	}
	return " \t\n\r\x00"
}

// checkWords refuses words that would come back different from format f.
func checkWords(t *Table, f Format) error {
	for i, word := range t.Words {
		if j := strings.IndexAny(word, forbidden(f)); j >= 0 {
			return fmt.Errorf("word %d (%q) contains %q, which format %s cannot hold", i+1, word, word[j], f)
		}
	}
	if f == GloVe && t.Dim == 1 {
		if _, _, ok := parseHeader(fmt.Appendf(nil, "%s %v", t.Words[0], t.Vectors[0])); ok {
			return fmt.Errorf("the first line (%s %v) would be taken for a header; write format %s", t.Words[0], t.Vectors[0], Word2VecText)
		}
	}
	return nil
}
