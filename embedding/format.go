package embedding

import (
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/w2vcl/w2vcl/embedding/fasttext"
	"github.com/w2vcl/w2vcl/internal/atomicfile"
)

// A Format names a file format of word vectors, as the command line does.
type Format string

// The formats that [Load] reads and [Save] writes.
const (
	Word2VecText   Format = "text"         // a line "V N", then a line "word v1 … vN" for each word
	Word2VecBinary Format = "binary"       // a line "V N", then for each word the word, a space, N float32, a line break
	FastText       Format = "vec"          // fastText's .vec, the same as Word2VecText
	GloVe          Format = "glove"        // Word2VecText without its first line
	NPY            Format = "npy"          // NumPy array (V, N); the words in a file beside it
	Safetensors    Format = "safetensors"  // tensors "vectors" and "words"
	Projector      Format = "projector"    // TensorBoard's projector: N values a line, separated by tabs; the words in a file beside it
	FastTextModel  Format = "fasttext-bin" // fastText's model: words, and n-grams if there are some
)

// extensions maps the extension of a file to its format; see [FormatOf].
var extensions = map[string]Format{
	".txt":         Word2VecText,
	".bin":         Word2VecBinary,
	".vec":         FastText,
	".glove":       GloVe,
	".npy":         NPY,
	".safetensors": Safetensors,
	".tsv":         Projector,
	".fasttext":    FastTextModel,
}

// Formats returns all formats.
func Formats() []Format {
	return []Format{Word2VecText, Word2VecBinary, FastText, GloVe, NPY, Safetensors, Projector, FastTextModel}
}

// Extensions returns the extensions of files in a format.
func Extensions(f Format) []string {
	var found []string
	for extension, format := range extensions {
		if format == f {
			found = append(found, extension)
		}
	}
	slices.Sort(found)
	return found
}

// ParseFormat returns the format with this name, in any case of letters. The extension
// of its files, with or without the dot, is a name, too.
func ParseFormat(name string) (Format, error) {
	name = strings.ToLower(name)
	if f := Format(name); slices.Contains(Formats(), f) {
		return f, nil
	}
	if f, ok := extensions["."+strings.TrimPrefix(name, ".")]; ok {
		return f, nil
	}
	return "", fmt.Errorf("unknown vector format %q; the formats are %s", name, list(Formats()))
}

// FormatOf returns the format that [Save] writes to path. The extension decides:
// .txt, .bin, .vec, .glove (also .glove.txt), .npy, .safetensors, .tsv or .fasttext
// (also .fasttext.bin; any other .bin is word2vec's), each also with .gz or .zst behind it.
func FormatOf(path string) (Format, error) {
	name, _ := cutCompression(strings.ToLower(filepath.Base(path)))
	if strings.HasSuffix(name, ".glove.txt") {
		return GloVe, nil
	}
	f, ok := extensions[filepath.Ext(name)]
	if strings.HasSuffix(name, ".fasttext.bin") {
		f = FastTextModel
	}
	if ok {
		return f, CheckCompression(path, f)
	}
	return "", fmt.Errorf("%s: the extension does not name a format; use .txt, .bin, .vec, .glove, .npy, .safetensors, .tsv or .fasttext.bin", path)
}

func list(formats []Format) string {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = string(f)
	}
	return strings.Join(names, ", ")
}

// Save writes a table to path in format f. With an empty f the extension decides;
// see [FormatOf]; with .gz or .zst at its end the file is compressed. NPY and Projector write a second file beside it; see
// [WordsPath]. The files are written whole, and together, or not at all.
//
// Errors: no such format, a word that the format cannot hold, vectors that Load would
// take for another format, a file that cannot be written.
func Save(path string, t *Table, f Format) error {
	if f == "" {
		var err error
		if f, err = FormatOf(path); err != nil {
			return err
		}
	}
	if err := check(t, f); err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	files := []atomicfile.File{{Path: path, Write: Compressed(path, func(w io.Writer) error { return writeAs(w, t, f) })}}
	if beside := WordsPath(path, f); beside != "" {
		files = append(files, atomicfile.File{Path: beside, Write: func(w io.Writer) error { return writeWords(w, t.Words) }})
	}
	return atomicfile.WriteAll(files...)
}

// writeAs writes a table to w in format f, without the words that NPY and Projector keep in a file of their own.
func writeAs(w io.Writer, t *Table, f Format) error {
	switch f {
	case Word2VecText, FastText:
		return writeText(w, t, true)
	case GloVe:
		return writeText(w, t, false)
	case Word2VecBinary:
		return t.rows().WriteBinary(w, runtime.GOMAXPROCS(0))
	case NPY:
		return writeNPY(w, t)
	case Safetensors:
		return writeSafetensors(w, t)
	case Projector:
		return writeProjector(w, t)
	case FastTextModel:
		return fasttext.Write(w, fasttext.Output{Words: t.Words, Dim: t.Dim, Vectors: t.Vectors})
	}
	_, err := ParseFormat(string(f))
	return err
}

// WordsPath returns the path of the file that holds the words for vectors at path
// in format f. It is OUT.words.txt beside OUT.npy, metadata.tsv beside vectors.tsv,
// and OUT.metadata.tsv beside any other OUT.tsv. It is "" for formats that keep
// the words in the same file.
func WordsPath(path string, f Format) string {
	dir, name := filepath.Split(path)
	name, _ = cutCompression(name)
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

// forbidden returns the characters that a word in format f must not contain.
func forbidden(f Format) string {
	switch f {
	case NPY, Safetensors:
		return "\n\r"
	case Projector:
		return "\t\n\r"
	case FastTextModel:
		return "\x00"
	}
	return " \t\n\r\x00"
}

// check refuses a table that Load would not read back from format f.
func check(t *Table, f Format) error {
	for i, word := range t.Words {
		if err := checkWord(word, i, f); err != nil {
			return err
		}
	}
	return checkBeginning(t, f)
}
