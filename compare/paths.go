package compare

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"regexp"
	"strings"
	"sync"

	streams "github.com/w2vcl/w2vcl/internal/memory"
)

// A report is passed on, and read by reviewers who shall not know whose it is. So it names files and folders
// without their paths, and the text by its checksum.

var pathSettings = []string{"corpus", "graph", "cache", "vocab", "matrix", "init", "pieces", "graph-dot"}

var somePath = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^=,:]*[/\\][^=,]*`) })

// plainWord is a word that no shell changes.
var plainWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_./:=,@%+-]+$`) })

// commandLine returns the words of a command for a shell, with the last names of the paths in them.
func commandLine(words []string) string {
	var quoted []string
	for _, word := range words {
		word = withoutPaths(word)
		if !plainWord().MatchString(word) {
			word = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
		quoted = append(quoted, word)
	}
	return strings.Join(quoted, " ")
}

// withoutPaths returns a word of a command, or the value of a setting, with the last names of the paths in it.
func withoutPaths(text string) string {
	return somePath().ReplaceAllStringFunc(text, func(path string) string {
		trimmed := strings.TrimRight(path, `/\`)
		return trimmed[strings.LastIndexAny(trimmed, `/\`)+1:]
	})
}

// hidePaths takes the paths of this machine out of the result.
func (r *Result) hidePaths() {
	r.Data, r.Text.Corpus = withoutPaths(r.Data), withoutPaths(r.Text.Corpus)
	for _, run := range r.Runs {
		hidePaths(run.Settings)
		hidePaths(run.Own)
		run.Summary.Out = withoutPaths(run.Summary.Out)
	}
	for _, v := range r.Variants {
		hidePaths(v.Settings)
		hidePaths(v.Own)
	}
	for i, missing := range r.Missing {
		r.Missing[i] = withoutPaths(missing)
	}
}

// hidePaths takes the paths out of settings that name files.
func hidePaths(texts map[string]string) {
	for _, name := range pathSettings {
		if text, ok := texts[name]; ok {
			texts[name] = withoutPaths(text)
		}
	}
}

// sumOfText returns the SHA-256 of the file of a text; "" of a folder, a stream, or one that is not there.
func (e *executor) sumOfText(ctx context.Context) (string, error) {
	var in io.Reader
	if e.Source != nil {
		in = e.Source()
	} else {
		path := e.runs[0].Config.Input()
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			return "", nil
		}
		f, err := os.Open(path)
		if err != nil {
			return "", err
		}
		defer f.Close()
		in = f
	}
	hash := sha256.New()
	if _, err := io.Copy(hash, streams.NewReader(ctx, in)); err != nil {
		return "", stopped(ctx, err)
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}
