// Package testdata embeds a text and evaluation sets in the binary. The demo and the
// tests train and score on them, so they download nothing.
//
// Start at README.md in this folder. It gives the source and the licence of each
// file, and says how make.py makes it.
//
// The go command leaves folders with this name out of patterns such as ./... An
// import works as usual, and `go test ./testdata` runs the tests.
package testdata

import (
	"bytes"
	"embed"
	"fmt"
	"io"
	"io/fs"
)

// CorpusName names the text of [Corpus] in messages. The text holds the State of the
// Union addresses of 1790 to 2021, one address a line: 10,761,391 bytes of UTF-8, with
// case and punctuation as published.
const CorpusName = "sotu.txt.zst"

//go:embed sotu.txt.zst
var corpus []byte

//go:embed eval licenses
var files embed.FS

// Corpus returns a new reader of the text, still compressed with zstd (2.5 MB).
// corpus.OpenFrom recognizes the compression and reads the text from it.
func Corpus() io.Reader { return bytes.NewReader(corpus) }

// Eval returns the evaluation sets as a file tree. A line of similarity/*.txt has two
// words and a score. analogy/*.txt has the format of word2vec's questions-words.txt:
// sections with four words a line.
func Eval() fs.FS { return folder("eval") }

func folder(name string) fs.FS {
	tree, err := fs.Sub(files, name)
	if err != nil { // only an invalid path fails, and the names above are valid
		panic(fmt.Sprintf("testdata: cannot open the embedded folder %s: %v", name, err))
	}
	return tree
}
