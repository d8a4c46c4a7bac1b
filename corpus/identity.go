package corpus

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"

	"github.com/w2vcl/w2vcl/corpus/wordcount"
	"github.com/w2vcl/w2vcl/internal/textfile"
)

// An identity tells a text from others without reading it: names, sizes, times and samples of
// its files.
type identity struct {
	hash  *xxhash.Digest // nil: a pipe, which cannot be told from others
	bytes int64          // stored; -1 if unknown
	plain bool           // no file is compressed
}

// sampleBytes are read at three places of a file.
const sampleBytes = 4 << 10

func identify(in *wordcount.Input) (identity, error) {
	id := identity{hash: xxhash.New(), plain: true}
	for _, s := range in.Files() {
		if s.Size < 0 {
			return identity{bytes: -1}, nil
		}
		if err := id.add(s); err != nil {
			return identity{}, err
		}
	}
	return id, nil
}

func (id *identity) add(s wordcount.File) error {
	path, err := filepath.Abs(s.Name)
	if err != nil {
		return err
	}
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) { // no file of that name: a redirected standard input
		*id = identity{bytes: -1}
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	id.bytes += info.Size()
	_, _ = fmt.Fprintf(id.hash, "%s\x00%d\x00%d\x00", path, info.Size(), info.ModTime().UnixNano())
	sample := make([]byte, sampleBytes)
	for _, at := range []int64{0, info.Size() / 2, max(info.Size()-sampleBytes, 0)} {
		n, err := f.ReadAt(sample, at)
		if err != nil && err != io.EOF {
			return err
		}
		id.hash.Write(sample[:n])
		if at == 0 && textfile.FormatOf(sample[:min(n, textfile.HeadBytes)]) != "" {
			id.plain = false
		}
	}
	return nil
}

// same returns an error if the text is another one now.
func (id identity) same(in *wordcount.Input) error {
	if id.hash == nil {
		return nil
	}
	now, err := identify(in)
	if err != nil {
		return err
	}
	if now.hash == nil || now.hash.Sum64() != id.hash.Sum64() {
		return errors.New("the text changed while it was read: wait until nobody writes to it, and start again")
	}
	return nil
}

// fits reports whether the text, as words of usual length, takes no more memory than that.
func (id identity) fits(memory int64) bool {
	return id.bytes >= 0 && id.plain && id.bytes+id.bytes/2 <= memory
}

// key is what the encoded text of this text with these options is known by; 0 for a text that
// has no identity.
func (id identity) key(o *Options) uint64 {
	if id.hash == nil {
		return 0
	}
	h := xxhash.New()
	_, _ = fmt.Fprintf(h, "1 %d %d %d %v %v %d %v %q\x00", id.hash.Sum64(),
		o.MinCount, o.MaxSentence, o.Lowercase, o.Tokenizer, o.MaxWords, o.JoinLines, o.Field)
	if o.Vocabulary != nil {
		_ = o.Vocabulary.WriteTSV(h) // no error of h; that of a strange word changes nothing
	}
	return max(h.Sum64(), 1)
}

// CacheFile returns the name of the encoded text of a text with these options in a folder.
// Other options, and a text that changed, have other names. ok is false for a pipe.
func CacheFile(folder, path string, o Options) (file string, ok bool, err error) {
	if path == "-" {
		return "", false, nil
	}
	o, err = o.withDefaults()
	if err != nil {
		return "", false, fmt.Errorf("corpus %s: %w", path, err)
	}
	in, err := wordcount.Find(path)
	if err != nil {
		return "", false, err
	}
	id, err := identify(in)
	if err != nil {
		return "", false, fmt.Errorf("corpus: %w", err)
	}
	key := id.key(&o)
	return filepath.Join(folder, filepath.Base(path)+"-"+Hex(key)+FileSuffix), key != 0, nil
}

// FileSuffix ends the names of encoded texts.
const FileSuffix = ".w2vtext"

// plainWord reports whether a word may be one of a text: the tokenizers make no others.
func plainWord(word string) bool {
	return word != "" && utf8.ValidString(word) && !strings.ContainsFunc(word, unicode.IsSpace) && !strings.ContainsRune(word, 0)
}

// Of how many files Probe looks at how many bytes, from the beginning and before the end.
const (
	probedFiles = 64
	probedBytes = 64 << 10
)

// Probe returns a checksum that tells most texts apart without reading them: of the names
// and sizes of the files that Open reads at path, and of the beginning and the end of some.
// It is 0 for a path that Open refuses.
func Probe(path string) uint64 {
	in, err := wordcount.Find(path)
	if err != nil {
		return 0
	}
	sum, files := xxhash.New(), in.Files()
	for _, f := range files {
		_, _ = fmt.Fprintf(sum, "%s\n%d\n", filepath.Base(f.Name), f.Size)
	}
	for i := range min(len(files), probedFiles) {
		f := files[i*len(files)/min(len(files), probedFiles)]
		file, err := os.Open(f.Name)
		if err != nil {
			continue // a pipe, or a part of an archive
		}
		for _, at := range []int64{0, max(f.Size-probedBytes, 0)} {
			_, _ = io.Copy(sum, io.NewSectionReader(file, at, probedBytes)) // who reads the text tells
		}
		_ = file.Close()
	}
	return sum.Sum64()
}
