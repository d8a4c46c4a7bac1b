package testdata

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// TestFilesAreThePublishedOnes: scores of one version compare with those of another. make.py gives each word of the sets of
// WordNet enough places in the text, and each band of scores as many pairs.
func TestFilesAreThePublishedOnes(t *testing.T) {
	text, err := zstd.NewReader(Corpus())
	if err != nil {
		t.Fatal(err)
	}
	defer text.Close()
	published := map[string]string{
		CorpusName:                      "3b397cfe7709004e9e421411ba5731e673e69c3de2f93905adfaf87c279a88e5", // decompressed
		"analogy/questions-words.txt":   "8c29b3332afc46f3fb8be04cb5297bf96f39aa7131272dff57869b4485b22a36",
		"analogy/wordnet-relations.txt": "90c20d6d3b058b76afc4737835ad4e6eb16e152b37af12089c86b9ae48770aaa",
		"similarity/wordnet-nouns.txt":  "f4661748edf751b7fa7e013d884d10f442f11c82d850c4f0a9c54f9bdd71c4ad",
	}
	for name, want := range published {
		var data []byte
		if name == CorpusName {
			data, err = io.ReadAll(text)
		} else {
			data, err = fs.ReadFile(Eval(), name)
		}
		if got := fmt.Sprintf("%x", sha256.Sum256(data)); err != nil || got != want {
			t.Errorf("%s: SHA-256 is %s, want %s (error %v)", name, got, want, err)
		}
	}
	sets := 0
	err = fs.WalkDir(Eval(), ".", func(_ string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			sets++
		}
		return err
	})
	if err != nil || sets != len(published)-1 {
		t.Errorf("%d sets (error %v)", sets, err)
	}
}

func TestCorpusReadersAreIndependent(t *testing.T) {
	a, b := Corpus(), Corpus()
	if _, err := io.Copy(io.Discard, a); err != nil {
		t.Fatal(err)
	}
	magic := make([]byte, 4)
	if _, err := io.ReadFull(b, magic); err != nil || !bytes.Equal(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}) {
		t.Errorf("the second reader begins with % x, %v; want zstd's magic bytes", magic, err)
	}
}

func TestLicenceOfWordNetTravelsWithItsSets(t *testing.T) {
	data, err := fs.ReadFile(files, "licenses/WordNet.txt")
	if err != nil || !bytes.Contains(data, []byte("Princeton University")) {
		t.Errorf("WordNet's licence must accompany all copies: %v, %d bytes", err, len(data))
	}
}
