package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/w2vcl/w2vcl/testdata"
)

// EvalData returns the folder of evaluation sets to use: the given one, or one with
// the sets that come with w2vcl, until remove is called.
func EvalData(given string) (folder string, remove func(), err error) {
	if given == "" {
		return builtinSets()
	}
	if _, err := os.Stat(given); errors.Is(err, fs.ErrNotExist) {
		return "", nil, fmt.Errorf("--data %s: there is no such file or folder", given)
	}
	return given, func() {}, nil
}

// builtinSets writes the evaluation sets that come with w2vcl to a temporary
// folder, where package evaluate can read them. remove deletes it.
func builtinSets() (folder string, remove func(), err error) {
	folder, err = os.MkdirTemp("", "w2vcl-eval-*")
	if err != nil {
		return "", nil, fmt.Errorf("cannot unpack the evaluation sets: %w", err)
	}
	remove = func() { _ = os.RemoveAll(folder) } // in the system's temporary folder
	if err := os.CopyFS(filepath.Join(folder, "eval"), testdata.Eval()); err != nil {
		remove()
		return "", nil, fmt.Errorf("cannot unpack the evaluation sets: %w", err)
	}
	return folder, remove, nil
}
