// Package experiments embeds the TOML files of this folder, which w2vcl compare runs. run.sh runs these and the scripts.
package experiments

import (
	"embed"
	"io/fs"
	"strings"
)

//go:embed */*.toml
var files embed.FS

const ending = ".toml"

// Names lists the experiments, such as ablations/optimizers.
func Names() []string {
	paths, _ := fs.Glob(files, "*/*"+ending) // the pattern is sound
	for i, path := range paths {
		paths[i] = strings.TrimSuffix(path, ending)
	}
	return paths
}

// Read returns the file of an experiment; nil if there is none of that name.
func Read(name string) []byte {
	data, _ := files.ReadFile(name + ending)
	return data
}
