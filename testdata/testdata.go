// Package testdata carries the text and the evaluation sets that w2vcl's demo
// and its tests train and score on, inside the binary: nothing is downloaded.
//
// README.md in this folder says where each file comes from, under which
// licence, and how make.py made it. Start reading there.
//
// The go tool leaves folders of this name out of ./... patterns; an explicit
// import works like any other, and `go test ./testdata` runs its tests.
package testdata

import (
	"bytes"
	"embed"
	"fmt"
	"io"
	"io/fs"
)

// CorpusName names the text of [Corpus] in messages. The text is the State of
// the Union addresses of 1790 to 2021, one address a line, 10,761,391 bytes of
// UTF-8 with case and punctuation as published.
const CorpusName = "sotu.txt.zst"

//go:embed sotu.txt.zst
var corpus []byte

//go:embed eval licenses
var files embed.FS

// Corpus returns a new reader of the text, compressed with zstd as it lies in
// the repository (2.5 MB). corpus.ReadFrom recognises the compression by its
// magic bytes, so the reader can be handed over as it is.
func Corpus() io.Reader { return bytes.NewReader(corpus) }

// Eval returns the evaluation sets as a file tree: similarity/*.txt (word,
// word, score) and analogy/*.txt (sections and four words a line, the format
// of word2vec's questions-words.txt).
func Eval() fs.FS { return folder("eval") }

// Licenses returns the licences that ask to appear on every copy of a set, so
// that they are in the binary too: WordNet.txt.
func Licenses() fs.FS { return folder("licenses") }

func folder(name string) fs.FS {
	tree, err := fs.Sub(files, name)
	if err != nil { // only for an invalid path, and the names above are valid
		panic(fmt.Sprintf("testdata: embedded folder %s: %v", name, err))
	}
	return tree
}
