package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/w2vcl/w2vcl/compare/experiment"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/train/settings"
)

// A variantList is the value of --modes.
type variantList []string

// Set reads the list.
func (l *variantList) Set(text string) error {
	var list []string
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		if !slices.Contains(settings.ModeNames(), part) {
			return fmt.Errorf("%q is none of %s%s", part, strings.Join(settings.ModeNames(), ", "), terminal.DidYouMean(part, settings.ModeNames()))
		}
		list = append(list, part)
	}
	*l = list
	return nil
}

func (l *variantList) String() string { return strings.Join(*l, ",") }

// Type names the kind of value in help.
func (l *variantList) Type() string { return "list" }

// externalsValue is the value of --external.
type externalsValue []experiment.External

// Set reads one more file.
func (v *externalsValue) Set(text string) error {
	external, err := experiment.ParseExternal(text)
	*v = append(*v, external)
	return err
}

// String lists the files.
func (v *externalsValue) String() string { return strings.Join(v.Paths(), " ") }

// Paths are the files, for the check of a command's files.
func (v *externalsValue) Paths() (paths []string) {
	for _, e := range *v {
		paths = append(paths, e.Vectors)
	}
	return paths
}

// Type names the kind of value in help.
func (v *externalsValue) Type() string { return "file" }
