// Package experiments embeds the experiments of the papers in the binary: files of `w2vcl compare
// --config`, and scripts. docs/papers.md says what they show.
package experiments

import "embed"

// Files has a folder for each paper.
//
//go:embed */*.toml */*.sh
var Files embed.FS
