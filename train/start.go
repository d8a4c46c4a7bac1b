package train

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/sequential"
)

// readStart reads the vectors that training goes on from. The vocabulary then
// has their words, too: those that the text lacks keep their vectors.
func (j *job) readStart(p *terminal.Progress) error {
	path := j.config.Init
	if path == "" {
		return nil
	}
	start, err := loadStart(path)
	if err != nil {
		return fmt.Errorf("--init %s: %w", path, err)
	}
	if n := len(start.Vocabulary); len(start.Words) != n*j.config.Dim {
		return terminal.Usagef("--init %s has vectors of %d dimensions, not of %d: add --dim %d", path, len(start.Words)/n, j.config.Dim, len(start.Words)/n)
	}
	own := j.vocabulary.Len()
	if j.corpus, err = sequential.Grow(j.corpus, start.Vocabulary); err != nil {
		return fmt.Errorf("--init %s: %w", path, err)
	}
	j.vocabulary, j.start = j.corpus.Vocabulary, start
	known := own + len(start.Vocabulary) - j.vocabulary.Len()
	p.Notef("Start:   %s words of %s, %s of them in the text, which has %s more", terminal.Number(len(start.Vocabulary)), path, terminal.Number(known), terminal.Number(own-known))
	return nil
}

// loadStart reads word vectors from a file, or both tables from a run folder.
func loadStart(path string) (sequential.Tables, error) {
	info, err := os.Stat(path)
	if err != nil {
		return sequential.Tables{}, fmt.Errorf("there are no such vectors: %w", err)
	}
	if !info.IsDir() {
		words, err := embedding.Load(path)
		if err != nil {
			return sequential.Tables{}, err
		}
		return sequential.Tables{Vocabulary: words.Words, Words: words.Vectors}, nil
	}
	words, err := embedding.Load(filepath.Join(path, VectorsFile))
	if err != nil {
		return sequential.Tables{}, err
	}
	contexts, err := embedding.Load(filepath.Join(path, ContextFile))
	if err != nil {
		return sequential.Tables{}, err
	}
	settings, err := readTOML(filepath.Join(path, ConfigFile))
	if err != nil {
		return sequential.Tables{}, err
	}
	if len(words.Vectors) != len(contexts.Vectors) {
		return sequential.Tables{}, fmt.Errorf("%s has %d values and %s has %d", VectorsFile, len(words.Vectors), ContextFile, len(contexts.Vectors))
	}
	if settings["vectors"] == VectorsSum {
		for i, c := range contexts.Vectors {
			words.Vectors[i] -= c
		}
	}
	return sequential.Tables{Vocabulary: words.Words, Words: words.Vectors, Contexts: contexts.Vectors}, nil
}
