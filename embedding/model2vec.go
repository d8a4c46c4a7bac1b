package embedding

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/w2vcl/w2vcl/internal/safetensors"
)

// A Model2VecModel is what a folder of [Model2Vec] says beside the vectors.
type Model2VecModel struct {
	Words     bool   // texts are split into runs of letters, digits and apostrophes, not at white space
	Lowercase bool   // texts are lower-cased
	Card      string // README.md, the model card
}

// unknownToken stands for words that are not in the vocabulary.
const unknownToken = "[UNK]"

// SaveModel2Vec writes a folder as Model2Vec and the StaticEmbedding of sentence-transformers read
// it: embeddings (V + 1, N), of which the last row, of zeros, is that of unknown words; a
// tokenizer of whole words; and a model card. There must be no such folder. It appears when it is whole.
func SaveModel2Vec(folder string, t *Table, m Model2VecModel) (err error) {
	if _, err := os.Lstat(folder); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s exists: name a folder that does not exist", folder)
	}
	temporary, err := os.MkdirTemp(filepath.Dir(filepath.Clean(folder)), ".w2vcl-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(temporary) // the other error is the one to tell
		}
	}()
	tokenizer, err := t.tokenizer(m)
	if err != nil {
		return err
	}
	for name, write := range map[string]func(io.Writer) error{
		"model.safetensors": t.writeEmbeddings,
		"tokenizer.json":    bytesWriter(tokenizer),
		"config.json":       bytesWriter(fmt.Appendf(nil, model2VecConfig, t.Dim)),
		"modules.json":      bytesWriter([]byte(model2VecModules)),
		"README.md":         bytesWriter([]byte(m.Card)),
	} {
		if err := writeFile(filepath.Join(temporary, name), write); err != nil {
			return err
		}
	}
	if err := os.Chmod(temporary, 0o755); err != nil { // MkdirTemp makes it private
		return err
	}
	return os.Rename(temporary, folder)
}

const (
	model2VecConfig = `{"model_type": "model2vec", "architectures": ["StaticModel"], "embedding_dtype": "float32", "hidden_dim": %d, "normalize": false, "seq_length": 1000000, "max_length": null}
`
	model2VecModules = `[{"idx": 0, "name": "0", "path": ".", "type": "sentence_transformers.models.StaticEmbedding"}]
`
)

func bytesWriter(data []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	}
}

func writeFile(path string, write func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

// writeEmbeddings writes the vectors and a row of zeros.
func (t *Table) writeEmbeddings(w io.Writer) error {
	rows, dim := int64(t.Len()+1), int64(t.Dim)
	tensors := []safetensors.Tensor{{Name: "embeddings", Type: safetensors.Float32, Shape: []int64{rows, dim}, Size: 4 * rows * dim}}
	return safetensors.WriteSealed(w, map[string]string{"format": "pt"}, tensors, func(w io.Writer) error {
		if err := safetensors.WriteFloats(w, t.Vectors); err != nil {
			return err
		}
		return safetensors.WriteFloats(w, make([]float32, t.Dim))
	})
}

// tokenizer returns the file of Hugging Face's tokenizers that finds words as the text was split.
func (t *Table) tokenizer(m Model2VecModel) ([]byte, error) {
	vocabulary := make(map[string]int, t.Len()+1)
	for i, word := range t.Words {
		vocabulary[word] = i
	}
	unknown := unknownToken
	for ; ; unknown += "]" { // a name that no word has
		if _, taken := vocabulary[unknown]; !taken {
			break
		}
	}
	vocabulary[unknown] = t.Len()
	var normalizer any
	if m.Lowercase {
		normalizer = map[string]string{"type": "Lowercase"}
	}
	var splitter any = map[string]string{"type": "WhitespaceSplit"}
	if m.Words {
		splitter = map[string]any{
			"type": "Split", "behavior": "Removed", "invert": false,
			"pattern": map[string]string{"Regex": `[^\p{L}\p{M}\p{N}'’]+`},
		}
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err := e.Encode(map[string]any{
		"version": "1.0", "truncation": nil, "padding": nil, "added_tokens": []any{},
		"normalizer": normalizer, "pre_tokenizer": splitter, "post_processor": nil, "decoder": nil,
		"model": map[string]any{"type": "WordLevel", "vocab": vocabulary, "unk_token": unknown},
	})
	return out.Bytes(), err
}
